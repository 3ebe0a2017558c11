/**
 * What the log is told of an error. Databases and providers put into theirs what they were given: parameters, whole
 * rows, recipients. None of it is for whoever reads the log.
 */
import { sqlState } from '#runtime/errors'

/** Of an error's own fields those that name a place or a kind; a library's others may hold anything. */
const fields: readonly string[] = [
  'accepted',
  'code',
  'column',
  'column_name',
  'command',
  'constraint',
  'constraint_name',
  'errno',
  'port',
  'position',
  'provider',
  'query',
  'responseCode',
  'routine',
  'schema_name',
  'severity',
  'status',
  'statusCode',
  'syscall',
  'table',
  'table_name',
]

const email = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
const phone = /\+\d{8,15}\b/g

const masked = (text: string): string => text.replace(email, '…@…').replace(phone, '+…')

/**
 * Its causes' words and places are told with its own. An error of any shape is told, if only that there was one: who
 * tells the log of it is about to answer somebody.
 */
export function loggedError(error: unknown): unknown {
  try {
    return told(error, [])
  } catch {
    return { type: 'Error', message: 'cannot be told: it is no error of the usual form' }
  }
}

/** Why a job was given up: what it threw, as a text of which nobody knows any more what it quotes. Its error was told. */
export const loggedReason = (reason: unknown): unknown =>
  typeof reason === 'string' ? masked(reason.replace(/".*"/s, '"…"')) : reason

/** `around`: the errors whose parts it is. */
function told(error: unknown, around: readonly unknown[]): unknown {
  if (typeof error === 'string') return masked(error)
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: String(error) }
  if (!(error instanceof Error)) {
    const { message } = error as { message?: unknown }
    return {
      type: 'object',
      ...(typeof message === 'string' && { message: masked(message) }),
      ...named(error),
    }
  }
  const all = causesOf(error)
  // Where no address of a host answers, what says so has no word for it but its code, and others wrap it.
  const code = all.map((each) => named(each).code).find((each) => each !== undefined)
  const parts: unknown = error instanceof AggregateError && !around.includes(error) ? error.errors : null
  return {
    type: error.constructor.name,
    message: all.map((each) => wordsOf(each, each.message)).join(': '),
    stack: all.map((each) => wordsOf(each, each.stack)).join('\ncaused by: '),
    ...(code === undefined ? {} : { code }),
    ...named(error),
    ...(Array.isArray(parts) && { aggregateErrors: parts.map((each) => told(each, [...around, error])) }),
  }
}

const named = (error: object): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((name) => {
      const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value
      return ['string', 'number'].includes(typeof value) ? [[name, value] as const] : []
    }),
  )

/** The error and those that led to it. */
function causesOf(error: Error): Error[] {
  const all = new Set<Error>()
  for (let each: unknown = error; each instanceof Error && !all.has(each); each = each.cause) all.add(each)
  return [...all]
}

const isNoJson = ' is not valid JSON'

/**
 * A database that cannot read a value quotes it (`invalid input syntax for type uuid: "…"`), and so does who reads JSON
 * (`Unexpected token 'a', "…" is not valid JSON`).
 */
function wordsOf(error: Error, given: unknown): string {
  const text = String(given ?? '')
  const message = String(error.message ?? '')
  const ofJson = error instanceof SyntaxError && message.endsWith(isNoJson) ? isNoJson : ''
  const quoteAt = ofJson || sqlState(error)?.startsWith('22') ? message.indexOf('"') : -1
  return masked(
    quoteAt < 0 ? text : text.replaceAll(message, () => `${message.slice(0, quoteAt)}"…"${ofJson}`),
  )
}
