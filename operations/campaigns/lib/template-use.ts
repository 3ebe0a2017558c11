import { sql } from 'kysely'
import type { templates } from '#operations/messaging/lib/door'

/** Campaigns that will send a template, or are sending it. */
export const templateUse: templates.TemplateUse = (db, templateId) =>
  db
    .selectFrom('campaigns as c')
    .select(sql<string>`'the campaign ' || c.name`.as('name'))
    .where('c.status', 'in', ['scheduled', 'sending', 'paused'])
    .where('c.deleted_at', 'is', null)
    .where(sql<boolean>`c.content ->> 'type' = 'template'`)
    .where(sql<boolean>`(c.content ->> 'officialapiTemplateId')::int = ${templateId}`)
