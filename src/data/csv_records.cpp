// csv_records: splits comma-separated values (RFC 4180) into records and cells.
#include "data/csv_records.h"

#include <ebb/core/error.h>

#include <algorithm>

namespace ebb::data {
namespace {

class Splitter {
 public:
  Splitter(std::string_view text, char separator, const std::string& name)
      : text_(text), separator_(separator), name_(name) {}

  CSVRecords split() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    // Reserves memory, because a reallocation would hold the cells twice.
    records_.cells.reserve(
        static_cast<std::size_t>(
            std::count_if(text_.begin(), text_.end(), [&](char c) { return c == separator_ || c == '\n'; })) +
        1);
    while (at_ < text_.size())
      if (!skip_line_end()) record();
    return std::move(records_);
  }

 private:
  bool skip_line_end() {
    const std::string_view rest = text_.substr(at_);
    const std::size_t length = rest.starts_with("\n")     ? 1
                               : rest.starts_with("\r\n") ? 2
                               : rest == "\r"             ? 1
                                                          : 0;
    at_ += length;
    line_ += length > 0;
    return length > 0;
  }

  void record() {
    const std::size_t before = records_.cells.size();
    const std::int64_t line = line_;
    records_.lines.push_back(line);
    do {
      records_.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
    } while (skip_separator());
    const std::size_t width = records_.cells.size() - before;
    if (records_.size() == 1) records_.width = width;
    EBB_CHECK(width == records_.width, "read_csv: ", name_, ", line ", line, ": expected ",
              std::uint64_t{records_.width}, " cells, as in the first record, got ", std::uint64_t{width},
              ".");
  }

  // Skips the separator after a cell. Returns false if the record ends there.
  bool skip_separator() {
    if (at_ == text_.size() || skip_line_end()) return false;
    EBB_CHECK(text_[at_] == separator_, "read_csv: ", name_, ", line ", line_,
              ": expected a separator or the end of the line after a closing quote. A quote within a quoted "
              "cell must be written twice.");
    ++at_;
    return true;
  }

  std::string_view plain() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n') ++at_;
    const bool before_line_end = at_ == text_.size() || text_[at_] == '\n';
    if (before_line_end && at_ > start && text_[at_ - 1] == '\r') --at_;
    return text_.substr(start, at_ - start);
  }

  std::string_view quoted() {
    const std::int64_t line = line_;
    const std::size_t start = ++at_;
    bool doubled = false;
    while (true) {
      const std::size_t quote = text_.find('"', at_);
      EBB_CHECK(quote != text_.npos, "read_csv: ", name_, ", line ", line, ": a quoted cell does not end.");
      line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                          text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n');
      at_ = quote + 1;
      if (at_ == text_.size() || text_[at_] != '"') break;
      doubled = true;
      ++at_;
    }
    const std::string_view inner = text_.substr(start, at_ - 1 - start);
    return doubled ? with_single_quotes(inner) : inner;
  }

  std::string_view with_single_quotes(std::string_view inner) {
    std::string& cell = records_.unquoted.emplace_back();
    for (std::size_t i = 0; i < inner.size(); ++i) {
      cell += inner[i];
      i += inner[i] == '"';
    }
    return cell;
  }

  std::string_view text_;
  char separator_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  CSVRecords records_;
};

}  // namespace

CSVRecords csv_records(std::string_view text, char separator, const std::string& name) {
  EBB_CHECK(separator != '"' && separator != '\n' && separator != '\r',
            "read_csv: quotes and line ends cannot separate cells.");
  return Splitter(text, separator, name).split();
}

}  // namespace ebb::data
