/** The email that tells the shop of a submission. */
import { escaped } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { emailKey } from '#runtime/values/email'
import { contactForm } from './form-settings.ts'

/** To each of `notifyEmails`, once; a submission that was deleted meanwhile is told of no more. */
export async function mailSubmission(ctx: Context, submissionId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('contact_form_submissions')
    .selectAll()
    .where('id', '=', submissionId)
    .executeTakeFirst()
  if (!row) return
  const settings = await contactForm.inForce(ctx)
  const labels = new Map(settings.fields.map(({ key, label }) => [key, label]))
  const values = Object.entries(row.values as Record<string, string | boolean>)
  const lines: [string, string | null][] = [
    ...(['name', 'email', 'phone', 'message'] as const).map((key): [string, string | null] => [
      labels.get(key) ?? key,
      row[key],
    ]),
    ...values.map(([key, value]): [string, string] => [
      labels.get(key) ?? key,
      typeof value === 'boolean' ? (value ? 'yes' : 'no') : value,
    ]),
    ['Page', row.page_url],
  ]
  const mail = submissionMail(ctx.store.name, lines)
  for (const to of settings.notifyEmails) {
    try {
      await ctx.adapters.mail.send({
        to,
        ...(row.email ? { replyTo: row.email } : {}),
        ...mail,
        idempotencyKey: `contact-form:${submissionId}:${emailKey(to)}`,
      })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      ctx.log.warn({ err: error, submissionId }, 'an address does not take the emails of the contact form')
    }
  }
}

function submissionMail(storeName: string, lines: readonly [label: string, value: string | null][]) {
  const given = lines.filter((line): line is [string, string] => line[1] !== null)
  return {
    subject: `The contact form of ${storeName}`.replace(/[\r\n]+/g, ' '),
    text: `${given.map(([label, value]) => `${label}: ${value}`).join('\n\n')}\n`,
    html: given
      .map(
        ([label, value]) =>
          `<p><strong>${escaped(label)}</strong><br>${escaped(value).replaceAll('\n', '<br>')}</p>`,
      )
      .join(''),
  }
}
