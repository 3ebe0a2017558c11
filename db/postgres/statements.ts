/** Single statements: which of them only read, and how one is run in a transaction of its own. */
import type { Connection, Rows } from './connection.ts'

const selectShape = /^\s*select\b/i
const withShape = /^\s*with\b/i
const writeShape = /\b(?:insert into|update|delete from|merge into)\b/i

export const isSelect = (text: string): boolean => selectShape.test(text)

export const isRead = (text: string): boolean =>
  isSelect(text) || (withShape.test(text) && !writeShape.test(text))

/** Runs one statement in a transaction, in one packet: so its settings end before a pooler reassigns the connection. */
export async function runInTransaction(
  connection: Connection,
  begin: string,
  text: string,
  parameters: readonly unknown[],
): Promise<Rows> {
  const [begun, answered, ended] = await Promise.allSettled([
    connection.run(begin, []),
    connection.run(text, parameters),
    connection.run('commit', []),
  ])
  for (const each of [begun, answered, ended]) if (each.status === 'rejected') throw each.reason
  return (answered as PromiseFulfilledResult<Rows>).value
}
