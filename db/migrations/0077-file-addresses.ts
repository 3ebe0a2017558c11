import { type Kysely, sql } from 'kysely'

/**
 * Rows name files independently of the server's address (`db/file-addresses.ts`). A database that has files keeps the
 * address that they have now as the beginning of their names, so that servers of the previous version understand both.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ base: string }>`
    select left(url, length(url) - length(key)) as base from files where right(url, length(key)) = key
    group by 1 order by max(created_at) desc`.execute(db)
  const used = rows.map(({ base }) => base)
  const stored = used[0] ?? 'files://'
  await sql`insert into server_settings (name, value)
    values ('file-addresses', ${JSON.stringify({ stored, used })}::jsonb)`.execute(db)
  if (used.length > 1) {
    await sql`update files set url = ${stored} || key
      where right(url, length(key)) = key and url <> ${stored} || key`.execute(db)
  }
}
