// SummaryWriter: event files for TensorBoard (torch.utils.tensorboard.SummaryWriter).
#pragma once

#include <ebb/core/arg.h>
#include <ebb/watch/records.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ebb::watch {

struct SummaryWriterOptions {
  /// A text that ends the name of the default folder.
  EBB_ARG(std::string, comment);
  /// The step at which a resumed run continues. TensorBoard hides what earlier files of the folder have at
  /// and after this step.
  EBB_ARG(std::optional<std::int64_t>, purge_step);
  /// A text that ends the names of the files.
  EBB_ARG(std::string, filename_suffix);
  /// Whether processes of other ranks than 0 write too. Give each of them a folder of its own.
  EBB_ARG(bool, all_ranks) = false;
};

/// Writes records into a folder that `tensorboard --logdir FOLDER` shows while training goes on:
///     watch::SummaryWriter writer("runs/lstm");
///     writer.add_scalar("loss/train", loss, step);
/// Each record is written at once as a whole, so a process that is killed loses no earlier record, and a file
/// that ends within a record is read up to it. If a record cannot be written, for example to a full disk, the
/// adder throws an error that names the file; the file keeps its whole records, and later calls try again.
/// Folders of several runs below one folder are shown together. TensorBoard keeps numbers in single
/// precision.
class EBB_API SummaryWriter final : public Recorder {
 public:
  /// Creates a file in `log_dir`. The default is "runs/" with the time, the host and the comment. Throws if
  /// the folder or the file cannot be created.
  explicit SummaryWriter(const std::string& log_dir = "", SummaryWriterOptions options = {});
  ~SummaryWriter() override;

  const std::string& get_logdir() const;
  /// Waits until the disk has all records. Without it, they survive the process but not a power failure.
  void flush();
  /// Closes the files. A later record begins new ones.
  void close();

 private:
  void write(Record&& record) override;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ebb::watch
