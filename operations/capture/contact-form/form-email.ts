/** The email that notifies the store of a submission. */
import { escapeHtml, files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { emailKey } from '#runtime/values/email'
import { contactForm } from './form-settings.ts'

/** Sends one email to each of `notifyEmails`. Sends none if the submission has been deleted. */
export async function mailSubmission(ctx: Context, submissionId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('contact_form_submissions')
    .selectAll()
    .where('id', '=', submissionId)
    .executeTakeFirst()
  if (!row) return
  const settings = await contactForm.getEffective(ctx)
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
  const mail = buildSubmissionMail(ctx.store.name, lines)
  for (const to of settings.notifyEmails) {
    try {
      await files.sendMail(ctx, {
        to,
        ...(row.email ? { replyTo: row.email } : {}),
        ...mail,
        idempotencyKey: `contact-form:${submissionId}:${emailKey(to)}`,
      })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      ctx.log.warn({ err: error, submissionId }, 'contact form email refused')
    }
  }
}

function buildSubmissionMail(storeName: string, lines: readonly [label: string, value: string | null][]) {
  const given = lines.filter((line): line is [string, string] => line[1] !== null)
  return {
    subject: `The contact form of ${storeName}`.replace(/[\r\n]+/g, ' '),
    text: `${given.map(([label, value]) => `${label}: ${value}`).join('\n\n')}\n`,
    html: given
      .map(
        ([label, value]) =>
          `<p><strong>${escapeHtml(label)}</strong><br>${escapeHtml(value).replaceAll('\n', '<br>')}</p>`,
      )
      .join(''),
  }
}
