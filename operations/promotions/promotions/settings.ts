/** Settings of the promotions widget. */
import { variableLine, widgetSettings } from '#operations/storefront/index'
import { textColourOn } from '#runtime/contrast'
import { colour, instant, named, object, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

const variables = ['name', 'label', 'buy', 'pay', 'free', 'discount', 'missing', 'saved', 'timeLeft']
const text = (max: number) => variableLine(1, max, variables)

export const promotionSettingsInput = {
  isEnabled: z.boolean(),
  showInProductPage: z.boolean(),
  showInProductList: z.boolean(),
  showInCart: z.boolean(),
  labelText: text(80),
  productPageText: text(200),
  progressText: text(200),
  successText: text(200),
  showCountdown: z.boolean().describe('Only where a promotion has an endsAt'),
  countdownText: text(120),
  labelPosition: z.enum(['top-left', 'top-right', 'bottom-left', 'bottom-right']),
  labelBackgroundColor: colour,
  labelTextColor: textColourOn('labelBackgroundColor'),
  progressColor: colour,
  borderRadius: z.number().int().min(0).max(40),
  fontSize: z.number().int().min(10).max(32),
}
const content = object(promotionSettingsInput)
type Content = z.infer<typeof content>
export const promotionSettings = named(
  'PromotionSettings',
  object({ ...promotionSettingsInput, updatedAt: instant.nullable().describe('Null: never saved') }),
)

const words = {
  productPageText: {
    en: 'Buy {{buy}}, pay {{pay}}',
    'pt-BR': 'Leve {{buy}}, pague {{pay}}',
    es: 'Lleva {{buy}}, paga {{pay}}',
  },
  progressText: {
    en: 'Add {{missing}} more to complete {{label}}',
    'pt-BR': 'Adicione mais {{missing}} para completar {{label}}',
    es: 'Agrega {{missing}} más para completar {{label}}',
  },
  successText: { en: 'You saved {{saved}}', 'pt-BR': 'Você economizou {{saved}}', es: 'Ahorraste {{saved}}' },
  countdownText: {
    en: 'Ends in {{timeLeft}}',
    'pt-BR': 'Termina em {{timeLeft}}',
    es: 'Termina en {{timeLeft}}',
  },
} satisfies Words<Content>

const defaults: Content = {
  isEnabled: true,
  showInProductPage: true,
  showInProductList: true,
  showInCart: true,
  labelText: '{{label}}',
  ...getEnglishTexts(words),
  showCountdown: false,
  labelPosition: 'top-left',
  labelBackgroundColor: '#111827',
  labelTextColor: '#ffffff',
  progressColor: '#16a34a',
  borderRadius: 6,
  fontSize: 13,
}

export const promotionWidget = widgetSettings('promotions', { defaults, words, schema: promotionSettings })
