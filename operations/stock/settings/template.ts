/** Checks whether stock alerts can use a template. No database. */
import type { templates } from '#operations/messaging/index'

type Template = templates.Template

/**
 * Why a template cannot be used for alerts, as the end of a sentence; null if it can. Alerts fill in up to three
 * numbered parameters: name, product name, product URL.
 */
export function findTemplateIssue(template: Template | null): string | null {
  if (!template) return 'is not there: choose one in officialapiTemplateId'
  if (template.status !== 'approved') return `is ${template.status}: only an approved one can be sent`
  return findMismatch(template)
}

/** Like `findTemplateIssue`, but ignores the template's status. */
export function findMismatch(template: Template): string | null {
  const { header, body } = template.placeholders
  if (header + body > 3) return 'has more than three parameters: name, product and link are all there are'
  if (template.buttons.some(({ type }) => type === 'coupon-code'))
    return 'has a coupon button: alerts have none'
  return null
}
