/** The contact form's settings. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { publishHooks, requireList } from '../popup/saving.ts'
import { applyFormChange, defaultForm, formWords, refuseInvalidForm } from './form-rules.ts'
import { type FormInput, formSettings } from './form-schema.ts'

/** The settings. A save refuses invalid settings and an unknown contact list. */
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
 * Turns the form on, in the caller's transaction. A form that is already on stays unchanged. Refuses saved settings
 * with which a form cannot be shown.
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
