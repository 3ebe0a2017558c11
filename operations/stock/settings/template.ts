/** Whether a template can carry alerts. No database. */
import type { templates } from '#operations/messaging/door'

type Template = templates.Template

/**
 * Why a template cannot carry alerts, as the end of a sentence; null where it can. It has up to three numbered
 * parameters: name, product name, product URL.
 */
export function templateFault(template: Template | null): string | null {
  if (!template) return 'is not there: choose one in officialapiTemplateId'
  if (template.status !== 'approved') return `is ${template.status}: only an approved one can be sent`
  return misfit(template)
}

/** Why alerts cannot fill in a template, whatever its status; null where they can. */
export function misfit(template: Template): string | null {
  const { header, body } = template.placeholders
  if (header + body > 3) return 'has more than three parameters: name, product and link are all there are'
  if (template.buttons.some(({ type }) => type === 'coupon-code'))
    return 'has a coupon button: alerts have none'
  return null
}
