/** Implements extension points of other sections: which templates are in use, and the onboarding step of automations. */
import { type RawBuilder, sql } from 'kysely'
import { templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'

/** Finds active automations that use a template, in the first message or in the flow. */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('automations as a')
    .select(sql<string>`'the automation ' || a.name`.as('name'))
    .where('a.is_active', '=', sql<boolean>`true`)
    .where('a.deleted_at', 'is', null)
    .where(placeholders ? miscountsPlaceholders(templateId, placeholders) : usesTemplate(templateId))

const usesTemplate = (templateId: RawBuilder<number>) => sql<boolean>`(
  (a.message ->> 'officialapiTemplateId')::int = ${templateId}
  or jsonb_path_exists(a.flow, '$.steps[*].message.officialapiTemplateId ? (@ == $id)',
    jsonb_build_object('id', ${templateId})))`

/** Whether any message of the automation uses the template with another number of parameters than it has placeholders. */
const miscountsPlaceholders = (
  templateId: RawBuilder<number>,
  placeholders: templates.Placeholders,
) => sql<boolean>`exists (
  select 1 from (
    select a.message as message
    union all
    select step.value -> 'message' from jsonb_array_elements(a.flow -> 'steps') as step
  ) sent
  where (sent.message ->> 'officialapiTemplateId')::int = ${templateId}
    and ${templates.isMiscounted(sql`(sent.message -> 'templateParameters')`, placeholders)})`

const findFirstActivated = prepared((db) =>
  db
    .selectFrom('automations')
    .select((eb) => eb.fn.min('activated_at').as('at'))
    .where('is_active', '=', true)
    .where('deleted_at', 'is', null),
)

/** When the first active automation was turned on, or null. */
export async function findActiveSince(ctx: Context): Promise<Date | null> {
  const [row] = await findFirstActivated(ctx, {})
  return row?.at ?? null
}
