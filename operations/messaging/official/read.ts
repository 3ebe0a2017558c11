/** Reads the current state of the official number, without asking the provider. */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { describeIssue, getOfficialState, type OfficialRow } from '../numbers/official-state.ts'
import type { OfficialConnection } from './schema.ts'

const staleMs = dayMs

type FoundRow = OfficialRow &
  Pick<
    Row<'messaging_connections'>,
    'phone' | 'display_name' | 'display_name_status' | 'connected_at' | 'checked_at'
  > & { templates: Partial<OfficialConnection['templates']> }

const findOfficial = prepared<object, FoundRow>((db) => {
  const counts = db
    .selectFrom('message_templates as t')
    .select(['t.status', sql<number>`count(*)`.as('n')])
    .groupBy('t.status')
  const templates = db.selectFrom(counts.as('g')).select(sql`json_object_agg(g.status, g.n)`.as('counts'))
  return db
    .selectFrom('stores as s')
    .leftJoin('messaging_connections as c', (join) => join.on('c.type', '=', sql.lit('official')))
    .leftJoin('messaging_setups as u', 'u.id', 'c.setup_id')
    .select([
      sql<string>`coalesce(c.status, 'none')`.as('status'),
      'c.issue_code',
      'c.phone',
      'c.display_name',
      'c.display_name_status',
      'c.connected_at',
      'c.checked_at',
      'u.started_at',
      'u.expires_at',
      'u.ended_at',
      sql<FoundRow['templates']>`coalesce((${templates}), '{}')`.as('templates'),
    ])
})

const zeroTemplates = { approved: 0, pending: 0, rejected: 0, paused: 0, disabled: 0 }

export async function readOfficial(ctx: Context): Promise<OfficialConnection> {
  const [row] = await findOfficial(ctx, {})
  const now = ctx.now()
  const { status, issue, setup } = getOfficialState(row!, now)
  const connected = status === 'connected'
  const { checked_at: checkedAt } = row!
  return {
    status,
    connected,
    phone: row!.phone,
    displayName: row!.display_name,
    displayNameStatus: row!.display_name_status as OfficialConnection['displayNameStatus'],
    issue: issue && describeIssue(issue),
    setup: setup && {
      startedAt: setup.startedAt.toISOString(),
      expiresAt: setup.expiresAt.toISOString(),
    },
    templates: { ...zeroTemplates, ...row!.templates },
    connectedAt: row!.connected_at?.toISOString() ?? null,
    checkedAt: checkedAt?.toISOString() ?? null,
    isStale: connected && (checkedAt === null || now.getTime() - checkedAt.getTime() > staleMs),
  }
}
