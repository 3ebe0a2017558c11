/** Converts parameters and results for postgres.js, so that values have the same types as in PGlite. */

import { parse as parseArray } from 'postgres-array'

/**
 * Converts a parameter to text, whose type PostgreSQL infers. Otherwise postgres.js would prepare a statement again for
 * values of other types. Throws for an unsupported value: postgres.js notices it too late, and then fails another
 * statement.
 */
export function toParameter(value: unknown): string | number | null | unknown[] {
  switch (typeof value) {
    case 'string':
    case 'number':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'object':
      return value === null ? null : Array.isArray(value) ? toListParameter(value) : objectToText(value)
    default:
      throw new TypeError(`A parameter is ${typeof value}, which PostgreSQL has nothing for`)
  }
}

function objectToText(value: object): string {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (!(value instanceof Date)) return String(JSON.stringify(value))
  if (Number.isNaN(value.getTime())) throw new RangeError('A parameter is an invalid date')
  return value.toISOString()
}

/** Checks a list. Whether it is sent as an array or as JSON depends on the type that PostgreSQL reports later. */
function toListParameter(list: unknown[]): unknown[] {
  for (const each of list) {
    if (each instanceof Date || each instanceof Uint8Array || ['bigint', 'boolean'].includes(typeof each)) {
      throw new TypeError('A parameter is a list of dates, bigints, booleans or bytes: give them as text')
    }
    toParameter(each)
  }
  return list
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const identity = (value: string): string => value

/**
 * The types of the library: bigint as number, date and numeric as text, JSON parsed. Outgoing values are text already.
 * `translate` changes each text before it is parsed. Array types are listed here: the library would query them on each
 * new connection (`connection.ts`).
 */
export function buildTypes(translate: (text: string) => string) {
  const parseJson = (value: string) => JSON.parse(translate(value))
  const parseBoolean = (value: string) => value === 't'
  const parseBytes = (value: string) => Buffer.from(value.slice(2), 'hex')
  const parseInstant = (value: string) => new Date(value)
  const single = {
    text: { to: 25, from: [25, 1043], serialize: String, parse: translate },
    boolean: { to: 16, from: [16], serialize: String, parse: parseBoolean },
    bytes: { to: 17, from: [17], serialize: String, parse: parseBytes },
    bigint: { to: 20, from: [20], serialize: String, parse: Number },
    date: { to: 1082, from: [1082], serialize: String, parse: identity },
    instant: { to: 1184, from: [1114, 1184], serialize: String, parse: parseInstant },
    json: { to: 3802, from: [114, 3802], serialize: asText, parse: parseJson },
  }
  /** For each kind of element, its parser and the type ids of its arrays, which are the same in every PostgreSQL. */
  const arrays: readonly [(element: string) => unknown, ...number[]][] = [
    // text, varchar
    [translate, 1009, 1015],
    // "char", name, char, inet, time, interval, numeric, uuid
    [identity, 1002, 1003, 1014, 1041, 1183, 1187, 1231, 2951],
    // smallint, integer, real, double precision, oid
    [Number, 1005, 1007, 1021, 1022, 1028],
    [parseBoolean, 1000],
    [parseBytes, 1001],
    [Number, 1016],
    [identity, 1182],
    // timestamp, timestamptz
    [parseInstant, 1115, 1185],
    // json, jsonb
    [parseJson, 199, 3807],
  ]
  const lists = arrays.map(([element, to, ...others]) => {
    const parse = (text: string) => parseArray(text, element)
    return [`array${to}`, { to: to!, from: [to!, ...others], serialize: arrayLiteral, parse }] as const
  })
  return { ...single, ...Object.fromEntries(lists) }
}

/** Writes an array as PostgreSQL's literal: `{"a","b",null}`. */
function arrayLiteral(value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  return `{${value.map((each) => (Array.isArray(each) ? arrayLiteral(each) : elementLiteral(each))).join()}}`
}

function elementLiteral(value: unknown): string {
  if (value === null) return 'null'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
