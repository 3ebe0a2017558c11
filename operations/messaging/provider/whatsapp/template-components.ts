/** Converts template parts to and from the Cloud API's format. */
import { z } from '#runtime/schema'
import type { TemplateContent } from '../template-port.ts'

type Buttons = TemplateContent['buttons']

const placeholder = /\{\{\d+\}\}/

/** Converts a template to the API's components. `handle`: the uploaded example file of a media header. */
export function toComponents(template: TemplateContent, handle: string | null): unknown[] {
  const { header, body, footer, buttons, examples } = template
  const headers = header ? [toHeaderComponent(header, examples.header, handle)] : []
  const bodyExample = examples.body.length > 0 ? { example: { body_text: [examples.body] } } : {}
  return [
    ...headers,
    { type: 'BODY', text: body, ...bodyExample },
    ...(footer ? [{ type: 'FOOTER', text: footer }] : []),
    ...(buttons.length > 0
      ? [{ type: 'BUTTONS', buttons: toButtonComponents(buttons, examples.buttons) }]
      : []),
  ]
}

function toHeaderComponent(
  header: NonNullable<TemplateContent['header']>,
  examples: readonly string[],
  handle: string | null,
): unknown {
  if (header.type === 'text') {
    const example = examples.length > 0 ? { example: { header_text: examples } } : {}
    return { type: 'HEADER', format: 'TEXT', text: header.text, ...example }
  }
  const example = handle ? { example: { header_handle: [handle] } } : {}
  return { type: 'HEADER', format: header.type.toUpperCase(), ...example }
}

/** Converts buttons. `examples` has one value per button with a parameter, in the order of the buttons. */
function toButtonComponents(buttons: Buttons, examples: readonly string[]): unknown[] {
  const left = [...examples]
  return buttons.map(({ type, text, url, phone }) => {
    switch (type) {
      case 'url': {
        const isDynamic = url !== null && placeholder.test(url)
        const example = isDynamic ? { example: [url.replace(placeholder, left.shift() ?? '')] } : {}
        return { type: 'URL', text, url, ...example }
      }
      case 'phone':
        return { type: 'PHONE_NUMBER', text, phone_number: phone }
      case 'coupon-code':
        return { type: 'COPY_CODE', example: left.shift() ?? '' }
      default:
        return { type: 'QUICK_REPLY', text }
    }
  })
}

const strings = z.array(z.string())
const buttonShape = z.object({
  type: z.string(),
  text: z.string().nullish(),
  url: z.string().nullish(),
  phone_number: z.string().nullish(),
  example: z.union([z.string(), strings]).nullish(),
})
export const listedComponents = z.array(
  z.object({
    type: z.string(),
    format: z.string().nullish(),
    text: z.string().nullish(),
    buttons: z.array(buttonShape).nullish(),
    example: z
      .object({ header_text: strings, header_handle: strings, body_text: z.array(strings) })
      .partial()
      .nullish(),
  }),
)
type Components = z.infer<typeof listedComponents>

export function toContent(
  components: Components,
): Pick<TemplateContent, 'header' | 'body' | 'footer' | 'buttons' | 'examples'> {
  const find = (type: string) => components.find((component) => component.type === type)
  const header = find('HEADER')
  const body = find('BODY')
  const given = find('BUTTONS')?.buttons ?? []
  const buttons = given.map(toButton)
  return {
    header: header
      ? {
          type: (header.format ?? 'TEXT').toLowerCase(),
          text: header.text ?? null,
          mediaUrl: header.example?.header_handle?.[0] ?? null,
        }
      : null,
    body: body?.text ?? '',
    footer: find('FOOTER')?.text ?? null,
    buttons,
    examples: {
      header: header?.example?.header_text ?? [],
      body: body?.example?.body_text?.[0] ?? [],
      buttons: given.flatMap((button, i) => toExample(button, buttons[i]!)),
    },
  }
}

const buttonTypes: Readonly<Record<string, string>> = {
  URL: 'url',
  PHONE_NUMBER: 'phone',
  COPY_CODE: 'coupon-code',
  QUICK_REPLY: 'quick-reply',
}

function toButton({ type, text, url, phone_number: phone }: z.infer<typeof buttonShape>): Buttons[number] {
  const ours = buttonTypes[type] ?? type.toLowerCase().replaceAll('_', '-')
  return {
    type: ours,
    // The label of a coupon button is the network's own, in the reader's language.
    text: ours === 'coupon-code' ? null : (text ?? null),
    url: url ?? null,
    phone: phone ? `+${phone.replace(/\D/g, '')}` : null,
  }
}

/** Returns a button's example: the value of the placeholder in its address, or its coupon code. Empty if it has none. */
function toExample({ example }: z.infer<typeof buttonShape>, { type, url }: Buttons[number]): string[] {
  const text = Array.isArray(example) ? example[0] : example
  if (text === undefined || text === null) return []
  if (type === 'coupon-code') return [text]
  if (type !== 'url' || !url || !placeholder.test(url)) return []
  const [before = '', after = ''] = url.split(placeholder)
  const isWhole = text.startsWith(before) && text.endsWith(after)
  return [isWhole ? text.slice(before.length, text.length - after.length) : text]
}
