/**
 * What the log is told of an error. Databases and providers put into theirs what they were given: parameters, whole
 * rows, recipients. None of it is for whoever reads the log.
 */
import { pino } from 'pino'
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

/** Its causes' words and places are told with its own, as pino does. */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? masked(error) : error
  const { type, message, stack } = pino.stdSerializers.err(error)
  const told = (text: string): string => masked(withoutValues(error, text))
  const own = error as unknown as Record<string, unknown>
  return {
    type,
    message: told(message),
    stack: told(stack),
    ...Object.fromEntries(
      fields.flatMap((name) =>
        ['string', 'number'].includes(typeof own[name]) ? [[name, own[name]] as const] : [],
      ),
    ),
    ...(error instanceof AggregateError ? { aggregateErrors: error.errors.map(loggedError) } : {}),
  }
}

/** A database that cannot read a value quotes it: `invalid input syntax for type uuid: "…"`. */
function withoutValues(error: Error, text: string): string {
  let plain = text
  const seen = new Set<unknown>()
  for (let each: unknown = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each)
    if (!sqlState(each)?.startsWith('22')) continue
    const quoteAt = each.message.indexOf('"')
    if (quoteAt >= 0) plain = plain.replaceAll(each.message, `${each.message.slice(0, quoteAt)}"…"`)
  }
  return plain
}
