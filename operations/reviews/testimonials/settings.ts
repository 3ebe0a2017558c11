/** How testimonials look: one row, written over defaults. */
import { isDeepStrictEqual } from 'node:util'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import {
  defaultTestimonialSettings,
  type TestimonialSettings,
  type testimonialSettings,
  type testimonialSettingsInput,
} from './schema.ts'

type Change = z.infer<typeof testimonialSettingsInput>

/** The defaults while nothing was saved. */
export async function findTestimonialSettings(
  ctx: Context,
): Promise<{ settings: TestimonialSettings; updatedAt: Date | null }> {
  const row = await ctx.db
    .selectFrom('testimonial_settings')
    .select(['content', 'updated_at'])
    .executeTakeFirst()
  return {
    settings: row
      ? merged(defaultTestimonialSettings, row.content as Change, null)
      : defaultTestimonialSettings,
    updatedAt: row?.updated_at ?? null,
  }
}

export async function readTestimonialSettings(ctx: Context): Promise<z.input<typeof testimonialSettings>> {
  const { settings, updatedAt } = await findTestimonialSettings(ctx)
  return { ...settings, updatedAt: updatedAt?.toISOString() ?? null }
}

/** In one transaction; two who save at once take turns. The same again changes nothing. */
export async function saveTestimonialSettings(ctx: Context, change: Change): Promise<void> {
  await ctx.transaction(async (tx) => {
    await tx.lockStore()
    const { settings: before } = await findTestimonialSettings(tx)
    const after = merged(before, change, null)
    if (isDeepStrictEqual(before, after)) return
    const now = tx.now()
    const row = { content: JSON.stringify(after), updated_at: now }
    await tx.db
      .insertInto('testimonial_settings')
      .values({ ...row, created_at: now })
      .onConflict((conflict) => conflict.column('store_id').doUpdateSet(row))
      .execute()
    await changed(tx)
  })
}

/** Turned on by the onboarding. */
export const activateTestimonials = (ctx: Context): Promise<void> =>
  saveTestimonialSettings(ctx, { isEnabled: true })
