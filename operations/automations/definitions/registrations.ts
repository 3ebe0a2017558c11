/** What other sections ask of the definitions: templates in use, and the steps of the onboarding. */
import { type RawBuilder, sql } from 'kysely'
import { templates } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'

/** Active automations that send a template, at first or in their flow. */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('automations as a')
    .select(sql<string>`'the automation ' || a.name`.as('name'))
    .where('a.is_active', '=', sql<boolean>`true`)
    .where('a.deleted_at', 'is', null)
    .where(placeholders ? misfits(templateId, placeholders) : names(templateId))

const names = (templateId: RawBuilder<number>) => sql<boolean>`(
  (a.message ->> 'officialapiTemplateId')::int = ${templateId}
  or jsonb_path_exists(a.flow, '$.steps[*].message.officialapiTemplateId ? (@ == $id)',
    jsonb_build_object('id', ${templateId})))`

/** A message of it, the first or of a step, that fills in another number of placeholders. */
const misfits = (
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

const firstActivated = prepared((db) =>
  db
    .selectFrom('automations')
    .select((eb) => eb.fn.min('activated_at').as('at'))
    .where('is_active', '=', true)
    .where('deleted_at', 'is', null),
)

/** Since when an automation is active, or null. */
export async function activeSince(ctx: Context): Promise<Date | null> {
  const [row] = await firstActivated(ctx, {})
  return row?.at ?? null
}
