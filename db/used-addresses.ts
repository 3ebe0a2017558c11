/** The addresses at which files were, which the database keeps. */
import type { Database } from './database.ts'
import { type Bases, storedBase } from './file-addresses.ts'

const name = 'file-addresses'

/** Begins to translate the addresses of files, which are now at `current`, and saves that they were there. */
export async function useFileAddresses(database: Database, current: string): Promise<void> {
  const [row] = await database.query<{ value: Bases }>('select value from server_settings where name = $1', [
    name,
  ])
  const bases = row?.value ?? { stored: storedBase, used: [] }
  database.fileAddresses.set(bases, current)
  if (bases.used.includes(current)) return
  await database.query(
    `insert into server_settings (name, value) values ($1, $2::jsonb)
     on conflict (name) do update set value = jsonb_set(server_settings.value, '{used}',
       (server_settings.value -> 'used') || (excluded.value -> 'used'))`,
    [name, JSON.stringify({ stored: bases.stored, used: [current] })],
  )
}
