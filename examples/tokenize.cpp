// tokenize DIR TEXT: id, piece, offsets in code points and bytes of each token; then the text made from the ids.
#include <cstdio>
#include <string>

#include "deberta/tokenizer.h"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: tokenize DIR TEXT\n", stderr);
    return 2;
  }
  const deberta::Tokenizer tokenizer = deberta::Tokenizer::load(argv[1]);
  const deberta::Encoding encoding = tokenizer.encode(argv[2]);
  for (size_t i = 0; i < encoding.size(); ++i) {
    const std::string piece(tokenizer.piece(encoding.ids[i]));
    std::printf("%d\t%s\t%u..%u\t%u..%u\n", encoding.ids[i], piece.c_str(), encoding.chars[i].begin,
                encoding.chars[i].end, encoding.bytes[i].begin, encoding.bytes[i].end);
  }
  std::printf("%s\n", tokenizer.decode(encoding.ids).c_str());
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
