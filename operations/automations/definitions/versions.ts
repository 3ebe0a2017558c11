/** Stores flow versions: each changed flow is a new version, and an unfinished run keeps the version it started with. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import type { JsonText } from '#runtime/operation'
import { requireAutomation } from '../automations.ts'
import type { Flow } from '../types.ts'

const maxVersions = 200

/**
 * Saves a flow as the next version and returns the version's number. The caller must have locked the automation's row.
 */
export async function addVersion(ctx: Context, automationId: string, flow: Flow | null): Promise<number> {
  const { version } = await ctx.db
    .insertInto('automation_flow_versions')
    .columns(['automation_id', 'version', 'flow', 'step_count', 'message_count', 'created_by', 'created_at'])
    .expression((db) =>
      db
        .selectFrom('automation_flow_versions')
        .select([
          sql<string>`${automationId}::uuid`.as('automation_id'),
          sql<number>`coalesce(max(version), 0) + 1`.as('version'),
          sql<string | null>`${flow && JSON.stringify(flow)}::jsonb`.as('flow'),
          sql<number>`${flow?.steps.length ?? 0}::int`.as('step_count'),
          sql<number>`${countMessages(flow)}::int`.as('message_count'),
          sql<string | null>`${ctx.actor.userId}::uuid`.as('created_by'),
          sql<Date>`${ctx.now()}::timestamptz`.as('created_at'),
        ])
        .where('automation_id', '=', automationId),
    )
    .returning('version')
    .executeTakeFirstOrThrow()
  if (version > maxVersions) await deleteOldVersions(ctx, automationId, version - maxVersions)
  return version
}

const countMessages = (flow: Flow | null): number =>
  flow?.steps.filter((step) => step.type === 'message').length ?? 0

/** Deletes the versions up to number `last` that no unfinished run uses. */
async function deleteOldVersions(ctx: Context, automationId: string, last: number): Promise<void> {
  await ctx.db
    .deleteFrom('automation_flow_versions as v')
    .where('v.automation_id', '=', automationId)
    .where('v.version', '<=', last)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('automation_runs as r')
            .select('r.id')
            .where('r.automation_id', '=', automationId)
            .whereRef('r.flow_version', '=', 'v.version')
            .where('r.ended_at', 'is', null),
        ),
      ),
    )
    .execute()
}

/** The JSON of a user with their current name. `column` is the column with the user's id. */
export const personJson = (db: Kysely<TenantTables>, column: string) =>
  sql`(${db
    .selectFrom('store_people as p')
    .select(sql`json_build_object('userId', p.user_id, 'name', p.name)`.as('json'))
    .where('p.user_id', '=', sql.ref<string>(column))})`

const findVersions = preparedList<{ automationId: string }>((db, values) => ({
  rows: db
    .selectFrom('automation_flow_versions as v')
    .innerJoin('automations as a', 'a.id', 'v.automation_id')
    .where('v.automation_id', '=', values.automationId),
  item: jsonObject({
    version: 'v.version',
    flow: 'v.flow',
    stepCount: 'v.step_count',
    messageCount: 'v.message_count',
    isCurrent: sql`v.version = a.flow_version`,
    createdAt: isoInstant('v.created_at'),
    createdBy: personJson(db, 'v.created_by'),
  }),
  order: [['v.version', 'desc']],
}))

/** Lists the flow versions, newest first. Refuses an unknown automation. */
export async function listVersions(ctx: Context, automationId: string, paging: Paging): Promise<JsonText> {
  await requireAutomation(ctx, automationId)
  return findVersions(ctx, { ...paging, automationId })
}
