import { textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import {
  colour,
  count,
  decimals,
  id,
  instant,
  moneyFromZero,
  named,
  object,
  otherAmount,
  setOf,
  text,
  writeBody,
  z,
} from '#runtime/schema'

/** URL of an image. `refuseForeignImages` checks later that it is https or in our storage. */
const imageAddress = reference('file', z.string().min(1).max(2000))
  .describe("https, or one of this server's storage")
  .nullable()
const days = z.number().int().min(1).max(365)

const couponMode = z.enum(['shared', 'unique'])
const couponType = z.enum(['percentage', 'amount', 'free-shipping'])

const couponShape = {
  mode: couponMode.describe('One code for all, or one of its own for each'),
  code: z
    .string()
    .regex(/^[A-Za-z0-9_-]{3,30}$/, 'must be 3 to 30 letters, digits, - or _')
    .nullable()
    .describe('Code of a shared coupon; stored in upper case'),
  prefix: z
    .string()
    .regex(/^[A-Z0-9]{1,10}$/, 'must be 1 to 10 capital letters or digits')
    .nullable()
    .describe('Prefix of unique codes; null: POP'),
  type: couponType,
  value: otherAmount().nullable().describe('Percent, or units of the currency; null for free shipping'),
  minimumAmount: moneyFromZero.nullable(),
  validDays: days.nullable().describe('How long a code holds from the subscription on'),
}

const designShape = {
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  buttonColor: colour,
  buttonTextColor: textColourOn('buttonColor'),
  overlayColor: colour,
  borderRadius: z.number().int().min(0).max(60).describe('In pixels'),
  fontFamily: z.string().min(1).max(80).nullable(),
  imageUrl: imageAddress,
  logoUrl: imageAddress,
  imagePosition: z.enum(['none', 'left', 'right', 'top', 'background']),
  customCss: z.string().max(10_000).nullable(),
}

const textsShape = {
  title: text(1, 120),
  description: text(1, 500),
  emailPlaceholder: text(1, 80),
  phonePlaceholder: text(1, 80),
  namePlaceholder: text(1, 80),
  buttonText: text(1, 40),
  consentText: text(1, 500),
  successTitle: text(1, 120),
  successMessage: text(1, 300),
  alreadySubscribedMessage: text(1, 300),
  errorMessage: text(1, 300),
  closeText: text(1, 40),
  spinText: text(1, 40),
}

const fieldShape = { enabled: z.boolean(), required: z.boolean() }

const displayShape = {
  delaySeconds: z.number().int().min(0).max(600).nullable(),
  scrollPercent: z.number().int().min(1).max(100).nullable(),
  exitIntent: z.boolean(),
  frequency: z.enum(['once', 'session', 'days', 'always']),
  frequencyDays: days,
  hideAfterSubscribe: z.boolean(),
  devices: z.enum(['all', 'desktop', 'mobile']),
  visitors: z.enum(['all', 'new', 'returning']),
  pageMode: z.enum(['all', 'include', 'exclude']),
  pagePatterns: setOf(text(1, 200), 50).describe(
    'Paths or full addresses; `*` stands for any run of characters',
  ),
  startsAt: instant.nullable(),
  endsAt: instant.nullable(),
  teaserEnabled: z.boolean(),
  teaserText: text(1, 60).nullable(),
}

const probability = z
  .number()
  .min(0)
  .max(100)
  .refine(...decimals(2))

const prizeShape = {
  label: text(1, 40),
  color: colour,
  probability: probability.describe('In per cent; those of all prizes make 100'),
  stock: z.number().int().min(0).max(1_000_000).nullable().describe('How many may be won; null: no limit'),
}

const coupon = named('PopupCoupon', object(couponShape))
const plainShape = {
  isEnabled: z.boolean(),
  layout: z.enum(['modal', 'slide-in', 'bar', 'fullscreen']),
  position: z.enum(['center', 'top', 'bottom', 'bottom-left', 'bottom-right']),
  consentRequired: z.boolean().describe('The visitor must tick the consent'),
  couponDelivery: z.enum(['screen', 'email', 'both']),
  contactListId: reference('list', id)
    .nullable()
    .describe('List of new subscribers with a phone and consent'),
  isMailproviderEnabled: z.boolean().describe('Push each new subscriber to the email provider'),
}

export const popupSettings = named(
  'NewsletterSettings',
  object({
    ...plainShape,
    design: object(designShape),
    texts: object(textsShape),
    fields: object({ email: object(fieldShape), phone: object(fieldShape), name: object(fieldShape) }),
    coupon: object({ enabled: z.boolean(), ...couponShape }),
    roulette: object({
      enabled: z.boolean(),
      prizes: z
        .array(object({ id, ...prizeShape, coupon: coupon.nullable(), won: count }))
        .max(12)
        .describe('With the roulette on they take the place of `coupon`'),
    }),
    display: object(displayShape),
    updatedAt: instant.nullable().describe('null: never saved'),
  }),
  { volatileFields: ['roulette.prizes.won'] },
)
export type PopupSettings = Omit<z.infer<typeof popupSettings>, 'updatedAt'>
export type PopupCoupon = z.infer<typeof coupon>
export type Prize = PopupSettings['roulette']['prizes'][number]

/**
 * Fields of a change. Fields left out keep their value, at every depth. Prizes are replaced as a whole; fields left out
 * of a prize get their default.
 */
const inputShape = {
  ...plainShape,
  design: writeBody(designShape, []),
  texts: writeBody(textsShape, []),
  fields: writeBody(
    { email: writeBody(fieldShape, []), phone: writeBody(fieldShape, []), name: writeBody(fieldShape, []) },
    [],
  ),
  coupon: writeBody({ enabled: z.boolean(), ...couponShape }, []),
  roulette: writeBody(
    {
      enabled: z.boolean(),
      prizes: z
        .array(
          writeBody(
            {
              ...prizeShape,
              id: id.describe('Id of an existing prize; a new one gets its own'),
              coupon: writeBody(couponShape, []).nullable(),
            },
            ['won'],
            ['label', 'probability'],
          ),
        )
        .max(12),
    },
    [],
  ),
  display: writeBody(displayShape, []),
}
export const popupInput = writeBody(inputShape, ['updatedAt'])
export type PopupInput = z.infer<typeof popupInput>
