// Summaries, progress bars, reports, metrics and checks of a training, in a separate library, ebb::watch.
#pragma once

#include <ebb/ebb.h>
#include <ebb/watch/check_finite.h>
#include <ebb/watch/csv_logger.h>
#include <ebb/watch/early_stopping.h>
#include <ebb/watch/figure.h>
#include <ebb/watch/fingerprint.h>
#include <ebb/watch/metrics.h>
#include <ebb/watch/progress.h>
#include <ebb/watch/records.h>
#include <ebb/watch/report.h>
#include <ebb/watch/summary.h>
#include <ebb/watch/summary_writer.h>
