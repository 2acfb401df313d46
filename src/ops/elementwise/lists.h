// Every functor of the family, once. Each backend's files instantiate their kernels from these lists.
#pragma once

#include "ops/elementwise/math_activation.h"

namespace ebb::ops {

using SignOps = List<Abs, Neg, Sign, Square, Cube, Relu>;
using PredicateOps = List<Signbit, IsNan, IsInf, IsFinite, IsPosInf, IsNegInf, LogicalNot, BitwiseNot>;
using RoundOps = List<Floor, Ceil, Round, RoundDecimals, Trunc, Frac, NanToNum, Clamp>;
using RootOps = List<Reciprocal, Sqrt, Rsqrt>;
using ExpOps = List<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sigmoid>;
using TrigOps = List<Sin, Cos, Tan, Asin, Acos, Atan>;
using HyperbolicOps = List<Sinh, Cosh, Tanh, Asinh, Acosh, Atanh>;
using SpecialOps = List<Erf, Erfc, Erfinv, Lgamma, Digamma, Polygamma, Logit, Sinc, BesselI0, BesselI1>;
using PiecewiseOps = List<Threshold, Hardtanh, LeakyRelu, Hardsigmoid, Hardswish, Hardshrink, Softshrink>;
using SmoothOps = List<Elu, Gelu, GeluTanh, Silu, Mish, Softplus, LogSigmoid>;
using UnaryOps = Join<SignOps, PredicateOps, RoundOps, RootOps, ExpOps, TrigOps, HyperbolicOps, SpecialOps,
                      PiecewiseOps, SmoothOps>;

using ArithmeticOps = List<Add, AddScaled, RsubScaled, Sub, Mul, Div>;
using DivisionOps = List<DivTrunc, DivFloor, Fmod, Remainder>;
using ExtremeOps = List<Maximum, Minimum, Fmax, Fmin>;
using CompareOps = List<Eq, Ne, Lt, Le, Gt, Ge, IsClose>;
using LogicOps = List<LogicalAnd, LogicalOr, LogicalXor, BitwiseAnd, BitwiseOr, BitwiseXor, ShiftLeft,
                      ShiftRight, Gcd, Lcm>;
using BinaryMathOps = List<Pow, Atan2, Hypot, LogAddExp, LogAddExp2, Xlogy, CopySign, Heaviside>;
using GradOps = List<TanhGrad, SigmoidGrad, ThresholdGrad, ClampGrad, Times<Sin>, Times<Cos>>;
using PiecewiseGradOps = List<Times<HardtanhSlope>, Times<LeakyReluSlope>, Times<HardsigmoidSlope>,
                              Times<HardswishSlope>, Times<ShrinkSlope>>;
using SmoothGradOps = List<Times<EluSlope>, Times<GeluSlope>, Times<GeluTanhSlope>, Times<SiluSlope>,
                           Times<MishSlope>, Times<SoftplusSlope>, Times<LogSigmoidSlope>>;
using BinaryOps = Join<ArithmeticOps, DivisionOps, ExtremeOps, CompareOps, LogicOps, BinaryMathOps, GradOps,
                       PiecewiseGradOps, SmoothGradOps>;

using TernaryOps = List<Where, Lerp, AddCMul, AddCDiv, ClampBetween>;

}  // namespace ebb::ops
