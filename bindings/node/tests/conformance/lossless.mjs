// JSON without loss, for the vectors: integer literals within 64 bits become BigInts, other numbers doubles.

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const INTEGER = /^-?\d+$/;
const STRING = /"(?:[^"\\]|\\.)*"/sy;

/** The value of a JSON text. Of equal names the last counts. */
export function parse(text) {
  let at = 0;
  const fail = () => {
    throw new SyntaxError(`not JSON at ${at}`);
  };
  const skip = () => {
    while (' \t\n\r'.includes(text[at]) && at < text.length) at++;
  };
  const take = (wanted) => {
    skip();
    if (!text.startsWith(wanted, at)) return false;
    at += wanted.length;
    return true;
  };
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? fail();
    at += found.length;
    return found;
  };
  const value = () => {
    skip();
    if (take('null')) return null;
    if (take('true')) return true;
    if (take('false')) return false;
    if (text[at] === '"') return JSON.parse(match(STRING));
    if (take('[')) {
      const array = [];
      if (take(']')) return array;
      do array.push(value());
      while (take(','));
      return take(']') ? array : fail();
    }
    if (take('{')) {
      const object = Object.create(null);
      if (take('}')) return object;
      do {
        skip();
        const name = JSON.parse(match(STRING));
        if (!take(':')) fail();
        object[name] = value();
      } while (take(','));
      return take('}') ? object : fail();
    }
    return number(match(NUMBER));
  };
  const found = value();
  skip();
  return at === text.length ? found : fail();
}

function number(text) {
  if (!INTEGER.test(text) || text === '-0') return Number(text);
  const integer = BigInt(text);
  return BigInt.asIntN(64, integer) === integer || BigInt.asUintN(64, integer) === integer ? integer : Number(text);
}

/** The text of a value that `parse` gave. */
export function stringify(value) {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    return `{${Object.keys(value).map((name) => `${JSON.stringify(name)}:${stringify(value[name])}`).join(',')}}`;
  }
  return Object.is(value, -0) ? '-0.0' : JSON.stringify(value);
}

/** A parsed value with plain numbers, as a service has them. */
export function plain(value) {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, plain(value[name])]));
}

/** Equality as the vectors want it: integers exactly, other numbers as doubles, members in any order. */
export function equal(left, right) {
  if (typeof left === 'bigint' || typeof right === 'bigint') {
    return typeof left === typeof right ? left === right : Number(left) === Number(right) && isNumeric(left) && isNumeric(right);
  }
  if (Array.isArray(left)) return Array.isArray(right) && left.length === right.length && left.every((item, index) => equal(item, right[index]));
  if (left === null || typeof left !== 'object') return left === right;
  if (right === null || typeof right !== 'object' || Array.isArray(right)) return false;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => Object.hasOwn(right, name) && equal(left[name], right[name]));
}

function isNumeric(value) {
  return typeof value === 'bigint' || typeof value === 'number';
}
