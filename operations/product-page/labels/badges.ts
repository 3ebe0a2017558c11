/** Badges: small texts beside the name or price of a product. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { preparedList } from '#runtime/database/list'
import { given } from '#runtime/values/changes'
import { badgeSettingsKey, defaultBadgeSettings } from './badge-settings.ts'
import {
  changeLabel,
  createLabel,
  deleteLabel,
  type Kind,
  labelJson,
  labelOrder,
  labelReader,
} from './labels.ts'
import { type BadgeChange, type BadgeOwn, badge, badgeDefaults } from './schema.ts'

export const badges: Kind<BadgeOwn> = {
  name: 'badge',
  ownKeys: ['text', 'icon', 'placement', 'backgroundColor', 'textColor', 'borderRadius'],
  mergeOwn(before, change) {
    const { text, icon, placement, backgroundColor, textColor, borderRadius } = {
      ...badgeDefaults,
      ...before,
      ...given(change),
    } as BadgeOwn
    return { text, icon, placement, backgroundColor, textColor, borderRadius }
  },
  schema: badge,
}

export const readBadge = labelReader(badges)

const defaults = sql.lit(JSON.stringify(defaultBadgeSettings))

/** By priority, then newest; the settings beside them. */
export const listBadges = preparedList<{ isActive?: boolean | undefined }>((db, values, has) => {
  let rows = db.selectFrom('product_labels as l').where('l.kind', '=', 'badge')
  if (has('isActive')) rows = rows.where('l.is_active', '=', values.isActive as boolean)
  const saved = db
    .selectFrom('widget_settings as w')
    .where('w.key', '=', sql.lit(badgeSettingsKey))
    .select(
      sql`w.content || jsonb_build_object('updatedAt',
        to_char(w.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`.as('settings'),
    )
  const settings = sql`(${defaults}::jsonb || coalesce((${saved}), '{"updatedAt": null}'::jsonb))`
  return { rows, item: labelJson(badges), page: 'l', order: labelOrder, extra: { settings } }
})

/** Answers its id. Not inside a transaction. */
export const createBadge = (ctx: Context, input: BadgeChange & { name: string }): Promise<string> =>
  createLabel(ctx, badges, input)

/** Not inside a transaction. */
export const changeBadge = (ctx: Context, id: string, change: BadgeChange): Promise<void> =>
  changeLabel(ctx, badges, id, change)

export const deleteBadge = (ctx: Context, id: string): Promise<void> => deleteLabel(ctx, badges, id)
