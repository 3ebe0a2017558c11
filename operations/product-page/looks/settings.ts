/** Settings of looks on the storefront, including the sections of looks on the home page. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/index'
import { widgetSettings } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
import { isId } from '#runtime/values/ids'
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import { lookJson } from './json.ts'
import { type HomeSection, lookSettings, type lookSettingsInput, type shownSection } from './schema.ts'

export type LookSettings = Omit<z.infer<typeof lookSettings>, 'updatedAt'>
type Change = { [K in keyof typeof lookSettingsInput]?: z.infer<(typeof lookSettingsInput)[K]> | undefined }

const words = {
  title: { en: 'Shop the look', 'pt-BR': 'Compre o look', es: 'Compra el look' },
  buttonText: { en: 'Add all to cart', 'pt-BR': 'Adicionar tudo ao carrinho', es: 'Agregar todo al carrito' },
} satisfies Words<LookSettings>
export const defaultLookSettings: LookSettings = {
  isEnabled: false,
  ...getEnglishTexts(words),
  hotspotColor: '#ffffff',
  buttonColor: '#111827',
  buttonTextColor: '#ffffff',
  unavailableItems: 'hide',
  homeSections: [],
}

/** The settings. A save refuses duplicate section keys and looks that the store does not have. */
export const lookWidget = widgetSettings('looks', {
  defaults: defaultLookSettings,
  words,
  schema: lookSettings,
  merge(_ctx, before, { homeSections, ...fields }: Change) {
    const sections = homeSections?.map(
      ({ key, title, subtitle = null, lookIds, layout = 'carousel', isEnabled = true }): HomeSection => ({
        ...{ key, title, subtitle, lookIds, layout, isEnabled },
      }),
    )
    return { ...before, ...omitUndefined(fields), homeSections: sections ?? before.homeSections }
  },
  async check(ctx, { homeSections }, before) {
    refuseDuplicates(homeSections)
    await requireLooks(ctx, homeSections, new Set(before.homeSections.flatMap(({ lookIds }) => lookIds)))
  },
})

function refuseDuplicates(sections: readonly HomeSection[]): void {
  const keys = new Set<string>()
  for (const [at, section] of sections.entries()) {
    if (keys.has(section.key)) {
      throw refuse('bad_request', `homeSections.${at}.key: is the key of another section`)
    }
    keys.add(section.key)
  }
}

/** Refuses a newly named look that does not exist. Looks that were named before are not checked. */
async function requireLooks(
  ctx: Context,
  sections: readonly HomeSection[],
  before: ReadonlySet<string>,
): Promise<void> {
  const added = sections.flatMap(({ lookIds }) => lookIds).filter((id) => !before.has(id))
  if (added.length === 0) return
  const rows = await ctx.db
    .selectFrom('looks')
    .select('id')
    .where(isAmong('id', added.filter(isId), 'uuid'))
    .execute()
  const known = new Set([...before, ...rows.map((row) => row.id)])
  for (const [at, { lookIds }] of sections.entries()) {
    const unknown = lookIds.find((id) => !known.has(id))
    if (unknown) throw refuse('bad_request', `homeSections.${at}.lookIds: there is no look ${unknown}`)
  }
}

/**
 * Removes a deleted look from the sections of the home page, in the transaction that deletes it. A section that has no
 * looks left is removed as well.
 */
export const dropFromSections = (ctx: Context, lookId: string): Promise<void> =>
  lookWidget.write(ctx, (before) => ({
    ...before,
    homeSections: before.homeSections
      .map((section) => ({ ...section, lookIds: section.lookIds.filter((id) => id !== lookId) }))
      .filter(({ lookIds }) => lookIds.length > 0),
  }))

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
  const { homeSections } = await lookWidget.getEffective(ctx)
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
