// EXPECT_ERROR(statement, kCode, "part of the message"): the statement throws deberta::Error with that code, and what()
// contains the part. tools/check_errors.py looks for this macro: every code of the table needs one.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "deberta/error.h"

#define EXPECT_ERROR(statement, expected_code, part)                                                     \
  do {                                                                                                   \
    try {                                                                                                \
      statement;                                                                                         \
      ADD_FAILURE() << "expected the error " #expected_code ", got none";                                \
    } catch (const deberta::Error& error) {                                                              \
      EXPECT_EQ(error.code(), deberta::ErrorCode::expected_code) << error.what();                        \
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "message: " << error.what(); \
    }                                                                                                    \
  } while (false)
