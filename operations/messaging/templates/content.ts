/** Counts and fills the numbered placeholders of templates (rule 3). All functions are pure. */

export interface TemplateButton {
  type: string
  text: string | null
  url: string | null
  phone: string | null
}

export interface TemplateText {
  header: { text: string | null } | null
  body: string
  footer: string | null
  buttons: readonly TemplateButton[]
}

export interface Parameters {
  header: string[]
  body: string[]
  buttons: string[]
}

export interface Rendered {
  header: string | null
  body: string
  footer: string | null
  buttons: { type: string; text: string | null; url: string | null }[]
}

const placeholder = /\{\{(\d+)\}\}/g

/** Counts different placeholders: `{{1}}` twice is one. */
export const countPlaceholders = (text: string): number =>
  new Set([...text.matchAll(placeholder)].map(([, number]) => Number(number))).size

/** Counts the parameters of each part. A button needs one if its address has a placeholder or if it shows a coupon. */
export function countTemplatePlaceholders(template: TemplateText): {
  header: number
  body: number
  buttons: number
} {
  return {
    header: countPlaceholders(template.header?.text ?? ''),
    body: countPlaceholders(template.body),
    buttons: template.buttons.filter(takesParameter).length,
  }
}

/**
 * Compares the number of parameters and placeholders of each part. Returns the first mismatch as the part and a text
 * to follow the part's name, or null if all match.
 */
export function describeMiscount(
  template: { name: string; placeholders: { header: number; body: number; buttons: number } },
  parameters: Parameters,
): { part: keyof Parameters; fault: string } | null {
  for (const part of ['header', 'body', 'buttons'] as const) {
    const [needs, has] = [template.placeholders[part], parameters[part].length]
    if (has !== needs) {
      return { part, fault: `the template ${template.name} needs ${needs}, and there are ${has}` }
    }
  }
  return null
}

const takesParameter = (button: TemplateButton): boolean =>
  button.type === 'coupon-code' || (button.type === 'url' && countPlaceholders(button.url ?? '') > 0)

/**
 * Fills all placeholders in one pass, so that a placeholder inside a value is not filled. A coupon button's text is its
 * code. The placeholder of a missing parameter becomes empty.
 */
export function fillTemplate(template: TemplateText, parameters: Parameters): Rendered {
  let dynamic = 0
  return {
    header: template.header?.text == null ? null : fillText(template.header.text, parameters.header),
    body: fillText(template.body, parameters.body),
    footer: template.footer,
    buttons: template.buttons.map((button) => {
      const { type, text, url } = button
      if (!takesParameter(button)) return { type, text, url }
      const value = parameters.buttons[dynamic] ?? ''
      dynamic += 1
      if (type === 'coupon-code') return { type, text: value, url: null }
      return { type, text, url: fillText(url ?? '', [value]) }
    }),
  }
}

const fillText = (text: string, values: readonly string[]): string =>
  text.replace(placeholder, (_all, number: string) => values[Number(number) - 1] ?? '')
