// The configuration of a new model: published shapes, changes, and what is refused.
#include "train/pretrain/new_model.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace deberta::train::new_model_test {
namespace {

TEST(NewModel, ASizeHasThePublishedShapeAndVersionThreesPositions) {
  const ModelConfig config = new_config({.name = "v3-large", .overrides = {}, .vocab_size = 128100});
  EXPECT_EQ(config.num_hidden_layers, 24);
  EXPECT_EQ(config.hidden_size, 1024);
  EXPECT_EQ(config.attention_head_size, 64);
  EXPECT_EQ(config.intermediate_size, 4096);
  EXPECT_EQ(config.vocab_size, 128100);
  EXPECT_EQ(config.span(), 256);
  EXPECT_TRUE(config.relative_attention && config.has_c2p && config.has_p2c && config.share_att_key);
  EXPECT_TRUE(config.has_rel_layer_norm);
  EXPECT_FALSE(config.position_biased_input);
}

TEST(NewModel, ASizeOfVersions1And2HasThatVersionsSettings) {
  const ModelConfig first = new_config({.name = "large", .overrides = {}, .vocab_size = 100});
  EXPECT_EQ(first.layout, Layout::kV1);
  EXPECT_EQ(first.hidden_size, 1024);
  EXPECT_EQ(first.span(), 512);
  EXPECT_FALSE(first.share_att_key || first.has_rel_layer_norm);
  EXPECT_EQ(first.vocab_size, 100);
  const ModelConfig second = new_config({.name = "v2-xxlarge", .overrides = {"num_hidden_layers=2"}, .vocab_size = 9});
  EXPECT_EQ(second.layout, Layout::kV2);
  EXPECT_EQ(second.num_hidden_layers, 2);
  EXPECT_EQ(second.conv_kernel_size, 3);
  EXPECT_EQ(second.conv_act, Activation::kGelu);
  EXPECT_TRUE(second.share_att_key && second.has_rel_layer_norm);
}

TEST(NewModel, AHiddenSizeBringsHeadsAndIntermediateSizeUnlessTheyAreNamed) {
  const ModelConfig config = new_config({.overrides = {"num_hidden_layers=4", "hidden_size=256"}, .vocab_size = 100});
  EXPECT_EQ(config.num_hidden_layers, 4);
  EXPECT_EQ(config.num_attention_heads, 4);
  EXPECT_EQ(config.intermediate_size, 1024);
  const ModelConfig other =
      new_config({.overrides = {"hidden_size=32", "num_attention_heads=8", "intermediate_size=40"}, .vocab_size = 9});
  EXPECT_EQ(other.attention_head_size, 4);
  EXPECT_EQ(other.intermediate_size, 40);
}

TEST(NewModel, ValuesAreJsonOrText) {
  const ModelConfig config = new_config(
      {.overrides = {"pos_att_type=c2p", "relative_attention=false", "hidden_dropout_prob=0.25", "hidden_act=relu"},
       .vocab_size = 9});
  EXPECT_TRUE(config.has_c2p);
  EXPECT_FALSE(config.has_p2c);
  EXPECT_FALSE(config.relative_attention);
  EXPECT_EQ(config.hidden_dropout_prob, 0.25);
  EXPECT_EQ(config.hidden_act, Activation::kRelu);
}

TEST(NewModel, WhatCannotBeIsRefused) {
  EXPECT_ERROR(new_config({.name = "v3-huge", .vocab_size = 9}), kUsage, "v3-xsmall, v3-small, v3-base, v3-large");
  EXPECT_ERROR(new_config({.overrides = {"hiden_size=9"}, .vocab_size = 9}), kUsage, "did you mean hidden_size?");
  EXPECT_ERROR(new_config({.overrides = {"hidden_size"}, .vocab_size = 9}), kUsage, "expected key=value");
  EXPECT_ERROR(new_config({.overrides = {"hidden_size=many"}, .vocab_size = 9}), kConfig, "hidden_size");
  EXPECT_ERROR(new_config({.vocab_size = 9, .max_tokens = 513}), kUsage, "at most max_position_embeddings = 512");
}

}  // namespace
}  // namespace deberta::train::new_model_test
