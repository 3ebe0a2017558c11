/** Quotes about the store, in the order the merchant gave them. */
import { files } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { oneRow, reorder, requireRoom } from '#runtime/database/rows'
import type { z } from '#runtime/schema'
import { refuseForeign } from '../pictures.ts'
import {
  type newTestimonial,
  type TestimonialChange,
  testimonial,
  type testimonialSettings,
} from './schema.ts'
import { testimonialWidget } from './settings.ts'

const atMost = 100

type Shown = z.input<typeof testimonial>

const columns = [
  'id',
  'position',
  'author_name',
  'author_title',
  'text',
  'rating',
  'photo_url',
  'is_enabled',
  'created_at',
  'updated_at',
] as const

async function rowsOf(ctx: Context, isEnabled?: boolean) {
  let rows = ctx.db.selectFrom('testimonials').select(columns).orderBy('position')
  if (isEnabled !== undefined) rows = rows.where('is_enabled', '=', isEnabled)
  return rows.execute()
}
type TestimonialRow = Awaited<ReturnType<typeof rowsOf>>[number]

const shown = (row: TestimonialRow): Shown => ({
  id: row.id,
  position: row.position,
  authorName: row.author_name,
  authorTitle: row.author_title,
  text: row.text,
  rating: row.rating,
  photoUrl: row.photo_url,
  isEnabled: row.is_enabled,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

/** By position, with the settings of their widget. */
export async function listTestimonials(
  ctx: Context,
  isEnabled?: boolean,
): Promise<{ data: Shown[]; settings: z.input<typeof testimonialSettings> }> {
  const [rows, settings] = [await rowsOf(ctx, isEnabled), await testimonialWidget.read(ctx)]
  return { data: rows.map(shown), settings }
}

const noTestimonial = 'There is no such testimonial'

const ownerOf = (id: string): string => `testimonial:${id}`

/** Goes last. Refuses one more than 100. */
export async function createTestimonial(ctx: Context, input: z.infer<typeof newTestimonial>): Promise<Shown> {
  const full = `A store has at most ${atMost} testimonials: delete one first`
  const rows = await requireRoom(ctx, ctx.db.selectFrom('testimonials'), atMost, full)
  const photoUrl = input.photoUrl || null
  const id = ctx.newId()
  await usePhoto(ctx, id, photoUrl)
  const now = ctx.now()
  const row = await ctx.db
    .insertInto('testimonials')
    .values({
      id,
      position: rows + 1,
      author_name: input.authorName,
      author_title: input.authorTitle || null,
      text: input.text,
      rating: input.rating ?? null,
      photo_url: photoUrl,
      is_enabled: input.isEnabled ?? true,
      created_at: now,
      updated_at: now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  await changed(ctx)
  return shown(row)
}

async function usePhoto(ctx: Context, id: string, photoUrl: string | null): Promise<void> {
  refuseForeign(ctx, photoUrl, 'photoUrl')
  await files.keepNamed(ctx, ownerOf(id), testimonial, { before: null, after: { photoUrl } })
}

/** What is left out keeps its value; the same again changes nothing. Refuses an unknown id. */
export async function updateTestimonial(ctx: Context, id: string, change: TestimonialChange): Promise<Shown> {
  const before = await oneRow(
    ctx.db.selectFrom('testimonials').select(columns).forUpdate(),
    id,
    noTestimonial,
  )
  const kept = <T>(given: T | undefined, was: T): T => (given === undefined ? was : given)
  const after = {
    author_name: kept(change.authorName, before.author_name),
    author_title: kept(change.authorTitle, before.author_title) || null,
    text: kept(change.text, before.text),
    rating: kept(change.rating, before.rating),
    photo_url: kept(change.photoUrl, before.photo_url) || null,
    is_enabled: kept(change.isEnabled, before.is_enabled),
  }
  const isSame = Object.entries(after).every(([key, value]) => before[key as keyof typeof after] === value)
  if (isSame) return shown(before)
  if (after.photo_url !== before.photo_url) await usePhoto(ctx, before.id, after.photo_url)
  const row = await ctx.db
    .updateTable('testimonials')
    .set({ ...after, updated_at: ctx.now() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
  await changed(ctx)
  return shown(row)
}

/**
 * The whole list in a new order. Refuses a repeated id, one that is not this store's, and a list that leaves one out
 * (added meanwhile); then nothing moves.
 */
export async function reorderTestimonials(ctx: Context, given: readonly string[]): Promise<Shown[]> {
  const { isMoved } = await reorder(ctx, { table: 'testimonials', place: 'position' }, given, {
    twice: (id) => `ids: ${id} is there twice`,
    none: noTestimonial,
    leftOut: 'ids: does not name every testimonial: read the list again',
  })
  if (isMoved) await changed(ctx)
  return (await rowsOf(ctx)).map(shown)
}

/** Later ones move up one. Refuses an unknown id. */
export async function deleteTestimonial(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const deleted = ctx.db.deleteFrom('testimonials').returning(['id', 'position'])
  const gone = await oneRow(deleted, id, noTestimonial)
  await ctx.db
    .updateTable('testimonials')
    .set((eb) => ({ position: eb('position', '-', 1), updated_at: ctx.now() }))
    .where('position', '>', gone.position)
    .execute()
  await files.setUses(ctx, ownerOf(gone.id), [])
  await changed(ctx)
}
