/** How values arrive: as PGlite's do. */

import { parse as parseArray } from 'postgres-array'

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const same = (value: string): string => value

/** Bigint as number, date and numeric as text, JSON parsed. */
const single = {
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  date: { to: 1082, from: [1082], serialize: String, parse: same },
  // An instant given as text is PostgreSQL's to read: postgres.js would make a Date of it and text again.
  instant: {
    to: 1184,
    from: [1114, 1184],
    serialize: (value: string | Date) => (typeof value === 'string' ? value : value.toISOString()),
    parse: (value: string) => new Date(value),
  },
  json: { to: 3802, from: [114, 3802], serialize: asText, parse: (value: string) => JSON.parse(value) },
}

/** Elements by the type of their array: PostgreSQL's `pg_type.dat`, whose numbers are the same in every version. */
const arrays: Readonly<Record<number, (element: string) => unknown>> = {
  1000: (boolean) => boolean === 't',
  1001: (bytes) => Buffer.from(bytes.slice(2), 'hex'),
  1002: same, // "char"
  1003: same, // name
  1005: Number, // smallint
  1007: Number, // integer
  1009: same, // text
  1014: same, // char
  1015: same, // varchar
  1016: single.bigint.parse,
  1021: Number, // real
  1022: Number, // double precision
  1028: Number, // oid
  1041: same, // inet
  1115: single.instant.parse, // timestamp
  1182: single.date.parse,
  1183: same, // time
  1185: single.instant.parse, // timestamptz
  1187: same, // interval
  1231: same, // numeric
  199: single.json.parse,
  2951: same, // uuid
  3807: single.json.parse, // jsonb
}

/** With those of arrays, which are not asked for (`door.ts`). */
export const types = {
  ...single,
  ...Object.fromEntries(
    Object.entries(arrays).map(([oid, parse]) => [
      oid,
      {
        to: Number(oid),
        from: [Number(oid)],
        serialize: arrayLiteral,
        parse: (text: string) => parseArray(text, parse),
      },
    ]),
  ),
}

/** `{"a","b",null}`. Instants and bigints in lists never get here: they are refused before they are sent. */
function arrayLiteral(value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  return `{${value.map((each) => (Array.isArray(each) ? arrayLiteral(each) : elementLiteral(each))).join()}}`
}

function elementLiteral(value: unknown): string {
  if (value === null) return 'null'
  const text =
    value instanceof Uint8Array
      ? `\\x${Buffer.from(value).toString('hex')}`
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
