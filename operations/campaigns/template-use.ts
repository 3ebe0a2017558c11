import { sql } from 'kysely'
import { templates } from '#operations/messaging/index'

/** Finds the campaigns that use a template and are scheduled, sending or paused. */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('campaigns as c')
    .select(sql<string>`'the campaign ' || c.name`.as('name'))
    .where('c.status', 'in', ['scheduled', 'sending', 'paused'])
    .where('c.deleted_at', 'is', null)
    .where(sql<boolean>`c.content ->> 'type' = 'template'`)
    .where(sql<boolean>`(c.content ->> 'officialapiTemplateId')::int = ${templateId}`)
    .$if(placeholders !== undefined, (query) =>
      query.where(templates.isMiscounted(sql`c.content -> 'templateParameters'`, placeholders!)),
    )
