"""Prints the expected numbers of metrics_test.cpp, from scikit-learn 1.9.1."""
import math
import warnings

import numpy as np
from sklearn import metrics as m

warnings.simplefilter("ignore")
N, C = 60, 5
# The samples of metrics_test.cpp. Scores are multiples of 1/8, so that many are equal.
scores = np.array([[math.floor(8 * math.sin(1.7 * i + 2.3 * c)) / 8 for c in range(C)] for i in range(N)])
target = np.array([(i * i + i // 7) % 4 for i in range(N)])  # class 4 never occurs
distinct = scores + 1e-3 * np.arange(C)  # no ties within a row
predicted = distinct.argmax(1)


def show(name, value):
    print(name, np.array2string(np.asarray(value, dtype=np.float64).ravel(), separator=", ", max_line_width=100,
                                formatter={"float": repr_float}, threshold=1000))


def repr_float(x):
    return repr(float(x))


show("accuracy", m.accuracy_score(target, predicted))
show("top 3", m.top_k_accuracy_score(target, distinct, k=3, labels=range(C)))
show("balanced", m.balanced_accuracy_score(target, predicted))
for average in ("macro", "weighted", "micro"):
    show(average, [f(target, predicted, average=average) for f in (m.precision_score, m.recall_score, m.f1_score)])
show("per class", m.precision_recall_fscore_support(target, predicted, labels=range(C), zero_division=0))
show("confusion", m.confusion_matrix(target, predicted, labels=range(C)))
kept = target != 2
show("without 2", [m.accuracy_score(target[kept], predicted[kept]),
                   m.f1_score(target[kept], predicted[kept], average="macro")])

binary = (target >= 2).astype(int)
probability = (scores[:, 0] + 1) / 2
guess = (probability > 0.5).astype(int)
show("binary", [f(binary, guess) for f in (m.precision_score, m.recall_score, m.f1_score)])
show("binary curves", [m.roc_auc_score(binary, probability), m.average_precision_score(binary, probability)])

four = np.exp(scores[:, :4]) / np.exp(scores[:, :4]).sum(1, keepdims=True)
four = np.round(four * 16) / 16
four[:, 3] = 1 - four[:, :3].sum(1)  # roc_auc_score checks the sums of multiclass scores
hot = np.eye(4)[target].astype(int)
for average in ("macro", "weighted", "micro"):
    show("curves " + average, [m.roc_auc_score(target, four, multi_class="ovr", average=average),
                               m.average_precision_score(hot, four, average=average)])
show("curves of classes", [m.roc_auc_score(hot, four, average=None), m.average_precision_score(hot, four, average=None)])
labels = (np.array([[(i * (c + 2) + i // 3) % 3 for c in range(C)] for i in range(N)]) == 0).astype(int)
show("multilabel", [f(labels, scores, average=a) for a in ("macro", "weighted", "micro")
                    for f in (m.roc_auc_score, m.average_precision_score)])

y = np.array([1e6 + 3 * math.sin(0.9 * i) + 0.1 * i for i in range(N)])
p = np.array([1e6 + 2.5 * math.sin(0.9 * i + 0.2) + 0.1 * i for i in range(N)])
errors = (m.mean_squared_error, m.root_mean_squared_error, m.mean_absolute_error, m.r2_score)
show("regression", [f(y, p) for f in errors])
show("two outputs", [f(y.reshape(-1, 2), p.reshape(-1, 2)) for f in errors])
show("perplexity", math.exp(m.log_loss(target, np.exp(scores) / np.exp(scores).sum(1, keepdims=True), labels=range(C))))
