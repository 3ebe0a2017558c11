/** Reads executions as JSON. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { isCountedConversion } from '#operations/store/index'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedOne } from '#runtime/database/rows'

type Db = Kysely<TenantTables>

/** The JSON of an execution. Needs the aliases `e`, `r` (its run) and `a` (its automation). */
export function executionJson(db: Db): RawBuilder<unknown> {
  const conversion = db
    .selectFrom('conversions as v')
    .select(
      sql`json_build_object('orderId', v.order_id, 'revenue', v.revenue, 'currency', v.currency)`.as('json'),
    )
    .where('v.message_id', '=', sql<string>`e.id::text`)
    .where(isCountedConversion('v'))
    .limit(sql<number>`1`)
  return jsonObject({
    id: 'e.id',
    runId: 'e.run_id',
    automationId: 'e.automation_id',
    automationName: 'a.name',
    automationType: 'a.type',
    origin: 'r.origin',
    sequence: 'e.sequence',
    flowVersion: 'r.flow_version',
    stepId: 'e.step_id',
    status: 'e.status',
    phone: 'e.phone',
    contactName: 'r.contact_name',
    trigger: jsonObject({
      event: 'r.event',
      entityType: 'r.entity_type',
      entityId: 'r.entity_id',
      occurredAt: isoInstant('r.occurred_at'),
    }),
    cartId: 'r.cart_id',
    orderId: 'r.order_id',
    customerId: 'r.customer_id',
    scheduledAt: isoInstant('e.scheduled_at'),
    holdReason: sql`case when e.status = 'pending' then e.hold_reason end`,
    text: 'e.text',
    officialapiTemplateId: 'e.officialapi_template_id',
    couponCode: 'e.coupon_code',
    // The message has the execution's id in the message ledger and in the inbox. It is null before the first attempt.
    messageId: sql`case when e.attempts > 0 then e.id end`,
    failureCode: 'e.failure_code',
    skipReason: 'e.skip_reason',
    failureReason: 'e.failure_reason',
    attempts: 'e.attempts',
    sentAt: isoInstant('e.sent_at'),
    deliveredAt: isoInstant('e.delivered_at'),
    readAt: isoInstant('e.read_at'),
    failedAt: isoInstant('e.failed_at'),
    endedAt: isoInstant('e.ended_at'),
    convertedAt: isoInstant('e.converted_at'),
    conversion: sql`case when e.converted_at is not null then (${conversion}) end`,
    createdAt: isoInstant('e.created_at'),
    updatedAt: isoInstant('e.updated_at'),
  })
}

export const noExecution = 'There is no such automation message'

/** Reads an execution. Refuses an unknown one, and one whose automation was deleted. */
export const readExecution = preparedOne(noExecution, (db, { id }) => ({
  rows: db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .innerJoin('automations as a', 'a.id', 'e.automation_id')
    .where('e.id', '=', id)
    .where('a.deleted_at', 'is', null),
  item: executionJson(db),
}))
