import { variableLine } from '#operations/storefront/index'
import {
  colour,
  currency,
  decimals,
  id,
  instant,
  line,
  money,
  moneyAtLeast0,
  moneyOver0,
  named,
  object,
  queryMoneyOver0,
  z,
} from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

const atLeastZero = moneyAtLeast0('must be at least 0')

export const ruleInput = {
  name: line(1, 80).describe('Shown, such as Credit card'),
  minAmount: atLeastZero.describe('From this amount on'),
  maxAmount: moneyOver0('must be more than 0').nullable().describe('Below this amount; null: no bound'),
  maxInstallments: z.number().int().min(1).max(36),
  interestFreeInstallments: z.number().int().min(1).max(36).describe('At most maxInstallments, the default'),
  monthlyInterestRate: z
    .number()
    .min(0)
    .max(30)
    .refine(...decimals(4))
    .describe('Per cent a month; above 0 exactly where some installments bear interest'),
  minInstallmentAmount: atLeastZero,
  isActive: z.boolean(),
}
const fields = object(ruleInput)
export type Rule = z.infer<typeof fields>
export type RuleChange = { [K in keyof Rule]?: Rule[K] | undefined }

export const ruleReadOnly = ['id', 'createdAt', 'updatedAt']
export const installmentRule = named(
  'InstallmentRule',
  object({ id, ...ruleInput, createdAt: instant, updatedAt: instant }),
)

const variables = ['installments', 'amount', 'total', 'rate']
export const installmentSettingsInput = {
  isEnabled: z.boolean(),
  showInProductPage: z.boolean(),
  showInProductList: z.boolean(),
  showInCart: z.boolean(),
  showTable: z.boolean(),
  display: z.enum(['max-interest-free', 'max-installments']).describe('Which option the short text names'),
  interestFreeText: variableLine(1, 160, variables),
  interestText: variableLine(1, 160, variables),
  tableTitle: line(1, 80),
  textColor: colour,
  highlightColor: colour,
  fontSize: z.number().int().min(10).max(32),
}
const settingsContent = object(installmentSettingsInput)
export type InstallmentSettingsContent = z.infer<typeof settingsContent>
export const installmentSettings = named(
  'InstallmentSettings',
  object({ ...installmentSettingsInput, updatedAt: instant.nullable().describe('Null: never saved') }),
)

export const installmentWords = {
  interestFreeText: {
    en: '{{installments}}x of {{amount}} interest-free',
    'pt-BR': '{{installments}}x de {{amount}} sem juros',
    es: '{{installments}} cuotas sin interés de {{amount}}',
  },
  interestText: {
    en: '{{installments}}x of {{amount}}',
    'pt-BR': '{{installments}}x de {{amount}}',
    es: '{{installments}} cuotas de {{amount}}',
  },
  tableTitle: { en: 'Installments', 'pt-BR': 'Parcelas', es: 'Cuotas' },
} satisfies Words<InstallmentSettingsContent>

export const defaultInstallmentSettings: InstallmentSettingsContent = {
  isEnabled: true,
  showInProductPage: true,
  showInProductList: false,
  showInCart: false,
  showTable: true,
  display: 'max-interest-free',
  ...getEnglishTexts(installmentWords),
  textColor: '#374151',
  highlightColor: '#16a34a',
  fontSize: 14,
}

const installmentOption = object({
  installments: z.number().int(),
  amount: money.describe('Of each installment'),
  firstAmount: money.describe('Of the first, which takes what rounding leaves'),
  total: money,
  interestTotal: money,
  isInterestFree: z.boolean(),
})
export const simulation = object({
  amount: money,
  currency,
  ruleId: id.nullable().describe('Null: no rule is for this amount'),
  options: z.array(installmentOption),
})

export const amountFilter = queryMoneyOver0
  .optional()
  .describe('What is bought: its installments are answered in simulation')
