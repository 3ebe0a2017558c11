/** Runs and messages of automations, written as rows. */
import type { NewRow } from '#db/tables'
import type { Context } from '#runtime/context'
import type { Shop } from './store.ts'

export interface History {
  ctx: Context
  /** Writes a run; returns its id. */
  run(fields?: Partial<NewRow<'automation_runs'>>): Promise<string>
  /** Writes an execution, by default of a run of its own; returns its id. */
  execution(fields: Partial<NewRow<'automation_executions'>>): Promise<string>
  log(runId: string, stepId: string, type: string, outcome?: string): Promise<void>
  sale(executionId: string, fields?: Partial<NewRow<'conversions'>>): Promise<void>
}

let keys = 0

export async function history(
  shop: Shop,
  automationId: string,
  flowVersion: number | null = null,
): Promise<History> {
  const ctx = await shop.context()
  const at = ctx.now()
  const run: History['run'] = async (fields = {}) => {
    keys += 1
    const id = ctx.newId()
    await ctx.db
      .insertInto('automation_runs')
      .values({
        id,
        automation_id: automationId,
        entry_key: `cart:${keys}`,
        origin: 'event',
        flow_version: flowVersion,
        event: 'cart-abandoned',
        entity_type: 'cart',
        entity_id: `${keys}`,
        cart_id: `${keys}`,
        occurred_at: at,
        phone: '+5511911112222',
        phone_key: '+5511911112222',
        contact_name: 'Ana',
        entered_at: at,
        created_at: at,
        updated_at: at,
        ...fields,
      })
      .execute()
    return id
  }
  return {
    ctx,
    run,
    async execution(fields) {
      const id = ctx.newId()
      await ctx.db
        .insertInto('automation_executions')
        .values({
          id,
          run_id: fields.run_id ?? (await run()),
          automation_id: automationId,
          sequence: 1,
          status: 'pending',
          phone: '+5511911112222',
          phone_key: '+5511911112222',
          scheduled_at: at,
          created_at: at,
          updated_at: at,
          ...fields,
        })
        .execute()
      return id
    },
    async log(run_id, step_id, type, outcome) {
      await ctx.db
        .insertInto('automation_step_log')
        .values({
          run_id,
          step_id,
          automation_id: automationId,
          flow_version: flowVersion,
          type,
          outcome: outcome ?? null,
          entered_at: at,
        })
        .execute()
    },
    async sale(message_id, fields = {}) {
      keys += 1
      await ctx.db
        .insertInto('conversions')
        .values({
          id: ctx.newId(),
          order_id: `order-${keys}`,
          order_number: `${keys}`,
          status: 'confirmed',
          source_type: 'automation',
          source_id: automationId,
          channel: 'messaging',
          message_id,
          customer: JSON.stringify({}),
          currency: 'BRL',
          order_total: '100.10',
          refunded_total: '0',
          revenue: '100.10',
          touched_at: at,
          placed_at: at,
          created_at: at,
          updated_at: at,
          ...fields,
        })
        .execute()
      await ctx.db
        .updateTable('automation_executions')
        .set({ converted_at: at })
        .where('id', '=', message_id)
        .execute()
    },
  }
}
