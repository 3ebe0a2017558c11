/** How the storefront shows looks, and the sections of its home page. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/door'
import { emptyToNull, readSettings, saveSettings } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { given } from '#runtime/values/changes'
import { isId } from '#runtime/values/ids'
import { lookJson } from './json.ts'
import type { HomeSection, lookSettings, lookSettingsInput, shownSection } from './schema.ts'

export type LookSettings = Omit<z.infer<typeof lookSettings>, 'updatedAt'>
type Change = { [K in keyof typeof lookSettingsInput]?: z.infer<(typeof lookSettingsInput)[K]> | undefined }

const key = 'looks'
export const defaultLookSettings: LookSettings = {
  isEnabled: false,
  title: 'Shop the look',
  buttonText: 'Add all to cart',
  hotspotColor: '#ffffff',
  buttonColor: '#111827',
  buttonTextColor: '#ffffff',
  unavailableItems: 'hide',
  homeSections: [],
}

export const readLookSettings = (ctx: Context) => readSettings(ctx, key, defaultLookSettings)

/** In the caller's transaction. Refuses a key that two sections have, and a look that is not this store's. */
export function saveLookSettings(ctx: Context, change: Change) {
  return saveSettings(ctx, key, defaultLookSettings, async (before) => {
    const { homeSections, ...fields } = change
    if (!homeSections) return { ...before, ...given(fields) }
    const sections = homeSections.map(
      ({
        subtitle = null,
        layout = 'carousel',
        isEnabled = true,
        key: name,
        title,
        lookIds,
      }): HomeSection => ({
        ...{ key: name, title, subtitle: emptyToNull(subtitle), lookIds, layout, isEnabled },
      }),
    )
    refuseDoubles(sections)
    await requireLooks(ctx, sections)
    return { ...before, ...given(fields), homeSections: sections }
  })
}

function refuseDoubles(sections: readonly HomeSection[]): void {
  const keys = new Set<string>()
  for (const [at, section] of sections.entries()) {
    if (keys.has(section.key)) {
      throw refuse('bad_request', `homeSections.${at}.key: is the key of another section`)
    }
    keys.add(section.key)
    if (new Set(section.lookIds).size < section.lookIds.length) {
      throw refuse('bad_request', `homeSections.${at}.lookIds: must not name a look twice`)
    }
  }
}

async function requireLooks(ctx: Context, sections: readonly HomeSection[]): Promise<void> {
  const ids = sections.flatMap(({ lookIds }) => lookIds).filter(isId)
  const rows = await ctx.db
    .selectFrom('looks')
    .select('id')
    .where(isAmong('id', ids, 'uuid'))
    .execute()
  const known = new Set(rows.map((row) => row.id))
  for (const [at, { lookIds }] of sections.entries()) {
    const unknown = lookIds.find((id) => !known.has(id))
    if (unknown) throw refuse('bad_request', `homeSections.${at}.lookIds: there is no look ${unknown}`)
  }
}

/** A look that is deleted, in the same transaction; a section left without looks goes as well. */
export async function dropFromSections(ctx: Context, lookId: string): Promise<void> {
  await saveSettings(ctx, key, defaultLookSettings, (before) => ({
    ...before,
    homeSections: before.homeSections
      .map((section) => ({ ...section, lookIds: section.lookIds.filter((id) => id !== lookId) }))
      .filter(({ lookIds }) => lookIds.length > 0),
  }))
}

const ofIds = prepared<
  { ids: readonly string[]; currency: string },
  { id: string; isShown: boolean; shown: z.input<typeof shownSection>['looks'][number] }
>((db, values) =>
  db
    .selectFrom('looks as l')
    .select([
      'l.id',
      sql<boolean>`l.is_active and l.health <> 'broken'`.as('isShown'),
      sql<z.input<typeof shownSection>['looks'][number]>`${lookJson(db, values.currency)}`.as('shown'),
    ])
    .where(sql<boolean>`l.id = any(${values.ids}::uuid[])`),
)

/** The sections of the home page, with the looks that shoppers see. */
export async function readHomeSections(ctx: Context): Promise<{ data: z.input<typeof shownSection>[] }> {
  const { homeSections } = await readLookSettings(ctx)
  const ids = [...new Set(homeSections.flatMap(({ lookIds }) => lookIds))]
  const found = ids.length === 0 ? [] : await ofIds(ctx, { ids, currency: ctx.store.currency })
  const shown = new Map(found.filter((row) => row.isShown).map((row) => [row.id, row.shown]))
  return {
    data: homeSections.map(({ lookIds, ...section }) => {
      const looks = lookIds.map((id) => shown.get(id)).filter((each) => each !== undefined)
      return { ...section, looks, hiddenLooks: lookIds.length - looks.length }
    }),
  }
}
