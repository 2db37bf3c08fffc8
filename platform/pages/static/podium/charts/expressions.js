// Evaluates the expressions of Vega from their syntax tree, so that the site's policy can forbid that text becomes
// code (no 'unsafe-eval'). Vega calls these five functions where it would otherwise compile; see "Expression
// Interpreter" in Vega's documentation. A function is called by its name alone, from the lists below or Vega's own.

const FORBIDDEN = new Set(["__proto__", "constructor", "prototype", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"]);
const NEVER_ADJUSTED = "rule";
const MAY_BE_TURNED = new Set(["group", "image", "rect"]);

const CONSTANTS = new Map(Object.entries({
  NaN: NaN, E: Math.E, LN2: Math.LN2, LN10: Math.LN10, LOG2E: Math.LOG2E, LOG10E: Math.LOG10E, PI: Math.PI,
  SQRT1_2: Math.SQRT1_2, SQRT2: Math.SQRT2, MIN_VALUE: Number.MIN_VALUE, MAX_VALUE: Number.MAX_VALUE, undefined: undefined,
}));

const OF_MATH = ["abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "exp", "floor", "hypot", "log", "max", "min", "pow", "random", "round", "sin", "sqrt", "tan"];
const OF_DATES = { date: "Date", day: "Day", year: "FullYear", month: "Month", hours: "Hours", minutes: "Minutes", seconds: "Seconds", milliseconds: "Milliseconds" };

function standardFunctions() {
  const found = new Map();
  OF_MATH.forEach((name) => found.set(name, Math[name]));
  Object.entries(OF_DATES).forEach(([name, method]) => {
    found.set(name, (value) => new Date(value)["get" + method]());
    found.set("utc" + name, (value) => new Date(value)["getUTC" + method]());
  });
  const others = {
    isNaN: Number.isNaN, isFinite: Number.isFinite,
    clamp: (value, low, high) => Math.max(low, Math.min(high, value)),
    now: Date.now, utc: Date.UTC, datetime: (...parts) => new Date(...parts), time: (value) => new Date(value).getTime(),
    timezoneoffset: (value) => new Date(value).getTimezoneOffset(),
    length: (value) => (value === null || value === undefined ? undefined : value.length),
    parseFloat, parseInt,
    upper: (text) => String(text).toUpperCase(), lower: (text) => String(text).toLowerCase(),
    substring: (text, ...ends) => String(text).substring(...ends), split: (text, ...how) => String(text).split(...how),
    trim: (text) => String(text).trim(), btoa: (text) => btoa(text), atob: (text) => atob(text),
    regexp: (pattern, flags) => new RegExp(pattern, flags), test: (pattern, text) => new RegExp(pattern).test(text),
  };
  Object.entries(others).forEach(([name, one]) => found.set(name, one));
  return found;
}
const FUNCTIONS = standardFunctions();

// What an event knows of the picture comes with the event.
const OF_EVENTS = new Set(["view", "item", "group", "xy", "x", "y"]);

const BINARY = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b,
  "==": (a, b) => a == b, "!=": (a, b) => a != b, "===": (a, b) => a === b, "!==": (a, b) => a !== b, // eslint-disable-line eqeqeq
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
  "&": (a, b) => a & b, "|": (a, b) => a | b, "^": (a, b) => a ^ b, "<<": (a, b) => a << b, ">>": (a, b) => a >> b, ">>>": (a, b) => a >>> b,
};
const UNARY = { "+": (a) => +a, "-": (a) => -a, "!": (a) => !a, "~": (a) => ~a };

const NODES = {
  Literal: (node) => node.value,
  Identifier: (node, scope) => {
    if (Object.hasOwn(scope.given, node.name)) return scope.given[node.name];
    return CONSTANTS.has(node.name) ? CONSTANTS.get(node.name) : scope.params["$" + node.name];
  },
  MemberExpression: (node, scope) => {
    const owner = value(node.object, scope);
    const name = node.computed ? value(node.property, scope) : node.property.name;
    if (FORBIDDEN.has(String(name))) throw new Error("Expressions may not use " + name + ".");
    return owner === null || owner === undefined ? undefined : owner[name];
  },
  CallExpression: (node, scope) => {
    const name = node.callee.name;
    const given = node.arguments;
    if (name === "if") return value(value(given[0], scope) ? given[1] : given[2], scope);
    return called(name, scope).apply(scope.functions, given.map((one) => value(one, scope)));
  },
  ArrayExpression: (node, scope) => node.elements.map((one) => value(one, scope)),
  ObjectExpression: (node, scope) => {
    const made = {};
    node.properties.forEach((property) => {
      const name = String(property.key.type === "Literal" ? property.key.value : property.key.name);
      if (FORBIDDEN.has(name)) throw new Error("Expressions may not use " + name + ".");
      made[name] = value(property.value, scope);
    });
    return made;
  },
  BinaryExpression: (node, scope) => BINARY[node.operator](value(node.left, scope), value(node.right, scope)),
  UnaryExpression: (node, scope) => UNARY[node.operator](value(node.argument, scope)),
  LogicalExpression: (node, scope) => {
    const left = value(node.left, scope);
    return Boolean(left) === (node.operator === "||") ? left : value(node.right, scope);
  },
  ConditionalExpression: (node, scope) => value(value(node.test, scope) ? node.consequent : node.alternate, scope),
};

function value(node, scope) {
  return NODES[node.type](node, scope);
}

function called(name, scope) {
  const event = scope.given.event;
  if (event && event.vega && OF_EVENTS.has(name)) return (...given) => event.vega[name](...given);
  const found = FUNCTIONS.get(name) || (FORBIDDEN.has(name) ? undefined : scope.functions[name]);
  if (typeof found !== "function") throw new Error("Expressions have no function " + name + ".");
  return found;
}

function evaluate(expression, context, params, given) {
  return value(expression.ast, { functions: context.functions, params: params || {}, given });
}

// Ends that were given instead of sizes, as Vega's own compiled encoders do it.
function place(item, channels, mayTurn, [start, end, centre, size]) {
  if (channels[end]) {
    if (channels[start]) {
      if (mayTurn && item[start] > item[end]) [item[start], item[end]] = [item[end], item[start]];
      item[size] = item[end] - item[start];
    } else {
      item[start] = item[end] - (item[size] || 0);
    }
  }
  if (channels[centre]) item[start] = item[centre] - (item[size] || 0) / 2;
}

export const interpreter = {
  operator: (context, expression) => (params) => evaluate(expression, context, params, {}),
  parameter: (context, expression) => (datum, params) => evaluate(expression, context, params, { datum }),
  event: (context, expression) => (event) => evaluate(expression, context, undefined, { event }),
  handler: (context, expression) => (params, event) => {
    const datum = event.item && event.item.datum;
    return evaluate(expression, context, params, { datum, event });
  },
  encode: (context, encoding) => (item, params) => {
    const { marktype, channels } = encoding;
    let changed = 0;
    Object.keys(channels).forEach((name) => {
      const now = evaluate(channels[name], context, params, { datum: item.datum, item });
      if (item[name] === now) return;
      item[name] = now;
      changed = 1;
    });
    if (marktype !== NEVER_ADJUSTED) {
      place(item, channels, MAY_BE_TURNED.has(marktype), ["x", "x2", "xc", "width"]);
      place(item, channels, MAY_BE_TURNED.has(marktype), ["y", "y2", "yc", "height"]);
    }
    return changed;
  },
};
