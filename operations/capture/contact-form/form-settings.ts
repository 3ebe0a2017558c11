/** The contact form's settings: read, and saved as a whole. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/door'
import { changed, publication } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { isId } from '#runtime/values/ids'
import { changedForm, defaultForm, refuseFormFaults } from './form-rules.ts'
import type { FormInput, FormSettings, formSettings } from './form-schema.ts'

interface SavedForm {
  settings: FormSettings
  updatedAt: Date | null
}

const findSaved = prepared<object, { settings: unknown; updated_at: Date }>(
  (db) => db.selectFrom('contact_form_settings').select(['settings', 'updated_at']),
  { planOnce: true },
)

/** The settings in force, the defaults where none were saved. */
export async function savedForm(ctx: Context): Promise<SavedForm> {
  const [row] = await findSaved(ctx, {})
  if (!row) return { settings: defaultForm, updatedAt: null }
  return { settings: merged(defaultForm, row.settings as never), updatedAt: row.updated_at }
}

/** The settings as an answer. */
export async function readForm(ctx: Context): Promise<z.infer<typeof formSettings>> {
  const { settings, updatedAt } = await savedForm(ctx)
  return { ...settings, updatedAt: updatedAt?.toISOString() ?? null }
}

/**
 * Lays a change over the settings and saves them, in the caller's transaction. Refuses what may not be, and an unknown
 * list. The same again changes nothing.
 */
export async function saveForm(ctx: Context, input: FormInput): Promise<void> {
  await ctx.lockStore()
  const { settings: before } = await savedForm(ctx)
  const after = changedForm(before, input)
  refuseFormFaults(after)
  if (isDeepStrictEqual(before, after)) {
    if (after.isEnabled) await publication.publishIfMissing(ctx)
    return
  }
  if (after.crmListId !== null && after.crmListId !== before.crmListId) {
    await requireList(ctx, after.crmListId)
  }
  await write(ctx, after)
}

async function requireList(ctx: Context, listId: string): Promise<void> {
  const list = isId(listId)
    ? await ctx.db
        .selectFrom('contact_lists')
        .select('id')
        .where('id', '=', listId)
        // Held until the settings are saved: whoever deletes the list takes it out of saved settings.
        .forKeyShare()
        .executeTakeFirst()
    : undefined
  if (!list) throw refuse('not_found', 'crmListId: there is no such contact list')
}

async function write(ctx: Context, settings: FormSettings): Promise<void> {
  const now = ctx.now()
  const saving = { settings: JSON.stringify(settings), updated_at: now }
  await ctx.db
    .insertInto('contact_form_settings')
    .values({ ...saving, created_at: now })
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(saving))
    .execute()
  await files.keepLinked(ctx, 'contact-form', settings)
  await changed(ctx)
  if (settings.isEnabled) await publication.publish(ctx)
}

/** Turns the form on, in the caller's transaction; one that is on stays as it is. Refuses one that cannot be shown. */
export async function turnFormOn(ctx: Context): Promise<void> {
  await ctx.lockStore()
  const { settings } = await savedForm(ctx)
  if (settings.isEnabled) return
  const after = { ...settings, isEnabled: true }
  refuseFormFaults(after)
  await write(ctx, after)
}

/** A contact list is gone: the settings that name it let go of it. */
export async function forgetFormList(ctx: Context, listId: string): Promise<void> {
  await ctx.db
    .updateTable('contact_form_settings')
    .set({ settings: sql`jsonb_set(settings, '{crmListId}', 'null')`, updated_at: ctx.now() })
    .where(sql<boolean>`settings ->> 'crmListId' = ${listId}`)
    .execute()
}
