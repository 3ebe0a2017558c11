/** The contact form's settings. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { onPlatform, requireList } from '../popup/saving.ts'
import { changedForm, defaultForm, formWords, refuseFormFaults } from './form-rules.ts'
import { type FormInput, formSettings } from './form-schema.ts'

/** What may not be is refused, and an unknown list. */
export const contactForm = settings({
  name: 'contact-form',
  table: 'contact_form_settings',
  columns: { content: 'settings' },
  defaults: defaultForm,
  words: formWords,
  schema: formSettings,
  merge: (_ctx, before, change: FormInput) => changedForm(before, change),
  async check(ctx, after, before) {
    refuseFormFaults(after)
    await requireList(ctx, 'crmListId', after, before)
  },
  ...onPlatform,
})

/** In the caller's transaction; one that is on stays as it is. Refuses one that cannot be shown. */
export const turnFormOn = (ctx: Context): Promise<void> =>
  contactForm.write(ctx, (before) => ({ ...before, isEnabled: true }))

/** A contact list is gone: the settings that name it let go of it. */
export async function forgetFormList(ctx: Context, listId: string): Promise<void> {
  await ctx.db
    .updateTable('contact_form_settings')
    .set({ settings: sql`jsonb_set(settings, '{crmListId}', 'null')`, updated_at: ctx.now() })
    .where(sql<boolean>`settings ->> 'crmListId' = ${listId}`)
    .execute()
}
