/** Badges: small texts next to the name or price of a product. */
import { sql } from 'kysely'
import { badgeSettingsKey, defaultBadgeSettings } from './badge-settings.ts'
import { labelKind } from './labels.ts'
import { type BadgeChange, type BadgeOwn, badge, badgeDefaults, badgeOwn } from './schema.ts'

const defaults = sql.lit(JSON.stringify(defaultBadgeSettings))

export const {
  read: readBadge,
  list: listBadges,
  create: createBadge,
  change: changeBadge,
  remove: deleteBadge,
} = labelKind<BadgeOwn, BadgeChange>({
  name: 'badge',
  fields: badgeOwn,
  defaults: badgeDefaults,
  schema: badge,
  extraColumns(db) {
    const saved = db
      .selectFrom('widget_settings as w')
      .where('w.key', '=', sql.lit(badgeSettingsKey))
      .select(
        sql`w.content || jsonb_build_object('updatedAt',
          to_char(w.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`.as('settings'),
      )
    return { settings: sql`(${defaults}::jsonb || coalesce((${saved}), '{"updatedAt": null}'::jsonb))` }
  },
})
