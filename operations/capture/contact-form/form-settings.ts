/** The contact form's settings. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { publishHooks, requireList } from '../popup/saving.ts'
import { applyFormChange, defaultForm, formWords, refuseInvalidForm } from './form-rules.ts'
import { type FormInput, formSettings } from './form-schema.ts'

/** Refuses invalid settings and an unknown list. */
export const contactForm = settings({
  name: 'contact-form',
  table: 'contact_form_settings',
  columns: { content: 'settings' },
  defaults: defaultForm,
  words: formWords,
  schema: formSettings,
  merge: (_ctx, before, change: FormInput) => applyFormChange(before, change),
  async check(ctx, after, before) {
    refuseInvalidForm(after)
    await requireList(ctx, 'crmListId', after, before)
  },
  ...publishHooks,
})

/**
 * Runs in the caller's transaction; a form that is on already stays unchanged. Refuses settings that cannot be shown.
 */
export const turnFormOn = (ctx: Context): Promise<void> =>
  contactForm.write(ctx, (before) => ({ ...before, isEnabled: true }))

/** Clears a deleted contact list from the settings. */
export async function clearFormList(ctx: Context, listId: string): Promise<void> {
  await ctx.db
    .updateTable('contact_form_settings')
    .set({ settings: sql`jsonb_set(settings, '{crmListId}', 'null')`, updated_at: ctx.now() })
    .where(sql<boolean>`settings ->> 'crmListId' = ${listId}`)
    .execute()
}
