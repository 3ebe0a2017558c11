/**
 * Serializes errors for the log. Errors of databases and providers contain their input: parameters, whole rows,
 * recipients. None of that may appear in the log.
 */
import { sqlState } from '#runtime/errors'

/** The fields of an error that are logged. Other fields of a library's error may contain anything. */
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

const maskContacts = (text: string): string => text.replace(email, '…@…').replace(phone, '+…')

/**
 * Serializes an error, with the messages and stacks of its causes. Never throws, whatever the error looks like, since
 * the caller is about to answer a request.
 */
export function serializeError(error: unknown): unknown {
  try {
    return serialize(error, [])
  } catch {
    return { type: 'Error', message: 'error of an unknown form, not serializable' }
  }
}

/** Masks the reason of a failed job, a text that may quote anything. The error itself was logged before. */
export const serializeReason = (reason: unknown): unknown =>
  typeof reason === 'string' ? maskContacts(reason.replace(/".*"/s, '"…"')) : reason

/** `around`: the errors around this one, so that a circular reference ends. */
function serialize(error: unknown, around: readonly unknown[]): unknown {
  if (typeof error === 'string') return maskContacts(error)
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: String(error) }
  if (!(error instanceof Error)) {
    const { message } = error as { message?: unknown }
    return {
      type: 'object',
      ...(typeof message === 'string' && { message: maskContacts(message) }),
      ...pickFields(error),
    }
  }
  const all = listCauses(error)
  // The code may be on a cause only, for example if no address of a host answers.
  const code = all.map((each) => pickFields(each).code).find((each) => each !== undefined)
  const parts: unknown = error instanceof AggregateError && !around.includes(error) ? error.errors : null
  return {
    type: error.constructor.name,
    message: all.map((each) => redactQuotes(each, each.message)).join(': '),
    stack: all.map((each) => redactQuotes(each, each.stack)).join('\ncaused by: '),
    ...(code === undefined ? {} : { code }),
    ...pickFields(error),
    ...(Array.isArray(parts) && {
      aggregateErrors: parts.map((each) => serialize(each, [...around, error])),
    }),
  }
}

const pickFields = (error: object): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((name) => {
      const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value
      return ['string', 'number'].includes(typeof value) ? [[name, value] as const] : []
    }),
  )

/** Lists the error and its causes. */
function listCauses(error: Error): Error[] {
  const all = new Set<Error>()
  for (let each: unknown = error; each instanceof Error && !all.has(each); each = each.cause) all.add(each)
  return [...all]
}

const isNoJson = ' is not valid JSON'

/**
 * Removes quoted values from a text. PostgreSQL quotes a value that it cannot parse (`invalid input syntax for type
 * uuid: "…"`), and so does the JSON parser (`Unexpected token 'a', "…" is not valid JSON`).
 */
function redactQuotes(error: Error, given: unknown): string {
  const text = String(given ?? '')
  const message = String(error.message ?? '')
  const ofJson = error instanceof SyntaxError && message.endsWith(isNoJson) ? isNoJson : ''
  const quoteAt = ofJson || sqlState(error)?.startsWith('22') ? message.indexOf('"') : -1
  return maskContacts(
    quoteAt < 0 ? text : text.replaceAll(message, () => `${message.slice(0, quoteAt)}"…"${ofJson}`),
  )
}
