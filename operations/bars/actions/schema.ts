import { textColourOn } from '#runtime/contrast'
import { colour, instant, named, object, writeBody, z } from '#runtime/schema'
import { devices, pages, plainText, withVariables } from '../common-schema.ts'

const type = z.enum(['link', 'messaging', 'phone', 'product', 'coupon', 'scroll-top'])
const label = withVariables(plainText(1, 40), [])
const icon = z.enum(['cart', 'chat', 'phone', 'tag', 'star', 'home', 'arrow-up']).nullable()
const target = z
  .string()
  .trim()
  .max(2000)
  .nullable()
  .describe(
    'By type: an address, a phone, a phone, the id of a product, a coupon; `scroll-top` has none, the others need one',
  )

const labelColour = textColourOn('backgroundColor')
const action = object({ type, label, icon, target, backgroundColor: colour, textColor: labelColour })
export type Action = z.infer<typeof action>

const fields = {
  isEnabled: z.boolean(),
  text: withVariables(plainText(0, 120), []).nullable(),
  actions: z.array(action).max(5),
  position: z.enum(['top', 'bottom']),
  isClosable: z.boolean(),
  showAfterScrollPercent: z.number().int().min(0).max(100),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  pages,
  devices,
}
const content = object(fields)
export type ActionContent = z.infer<typeof content>

export const actionBar = named(
  'ActionBarSettings',
  object({ ...fields, updatedAt: instant.nullable().describe('Null: never saved') }),
)

export const actionInput = writeBody(
  {
    ...fields,
    actions: z
      .array(
        object({
          type,
          label,
          icon: icon.default(null),
          target: target.default(null),
          backgroundColor: colour.default('#15803d'),
          textColor: labelColour.default('#ffffff'),
        }),
      )
      .max(5),
  },
  ['updatedAt'],
)

export const defaultActions: ActionContent = {
  isEnabled: false,
  text: null,
  actions: [],
  position: 'bottom',
  isClosable: false,
  showAfterScrollPercent: 0,
  backgroundColor: '#ffffff',
  textColor: '#111827',
  pages: ['all'],
  devices: 'all',
}
