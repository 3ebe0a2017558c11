import { describe, expect, test } from 'vitest'
import {
  findVariableIssue,
  parseVariables,
  renderLoosely,
  renderParameter,
  renderText,
} from '#runtime/values/variables'

describe('texts', () => {
  const ana = { firstName: 'Ana', name: 'Ana Souza', cupom: 'VIP5', cidade: null, nota: '  ' }
  test.each([
    ['Oi {{firstName|cliente}}, use {{cupom}}', ana, 'Oi Ana, use VIP5', []],
    ['Oi {{firstName|cliente}}, use {{cupom}}', {}, 'Oi cliente, use', ['cupom']],
    ['Oi {{ firstName | cliente }}!', ana, 'Oi Ana!', []],
    ['Oi {{ firstName | cliente }}!', {}, 'Oi cliente!', []],
    // Blanks that the merchant wrote elsewhere stay.
    ['Oi {{firstName}} , tudo bem ?', {}, 'Oi, tudo bem ?', ['firstName']],
    ['Bonjour {{firstName}} ! Voici {{cupom}}', { firstName: 'Ana' }, 'Bonjour Ana ! Voici', ['cupom']],
    [
      '{{name}} is back, {{firstName}}',
      { name: 'Kit .NET  , blue' },
      'Kit .NET  , blue is back',
      ['firstName'],
    ],
    ['em {{name}} ({{cupom}})', { name: 'https://a.example.com' }, 'em https://a.example.com', ['cupom']],
    ['Hi Ana. Order {{name}}: {{cupom}}. Bye', { name: '5' }, 'Hi Ana. Order 5. Bye', ['cupom']],
    ['Seu cupom: *{{cupom}}* vale', {}, 'Seu cupom: vale', ['cupom']],
    ['Aproveite {{nota}}% de desconto', {}, 'Aproveite de desconto', ['nota']],
    ['Só R$ {{nota}}!', {}, 'Só!', ['nota']],
    ['{{firstName}}! Hi', {}, 'Hi', ['firstName']],
    ['¡{{firstName}}! Tu pedido', {}, 'Tu pedido', ['firstName']],
    ['مرحبا {{firstName}}، طلبك', {}, 'مرحبا، طلبك', ['firstName']],
    ['- {{nota}}\n- {{cupom}}', { cupom: 'x' }, '- x', ['nota']],
    ['Plan A {{nota}}! Come on in, {{firstName}}!', {}, 'Plan A! Come on in!', ['nota', 'firstName']],
    ['Oi {{firstName}}  !\nUse {{cupom}} \nhoje', {}, 'Oi!\nUse\nhoje', ['firstName', 'cupom']],
    ['De {{cidade}} para {{nota|lá}}', ana, 'para lá', ['cidade']],
    ['Ana from {{cidade}} bought it', ana, 'Ana bought it', ['cidade']],
    ['Ana ({{cidade}}) bought it', ana, 'Ana bought it', ['cidade']],
    ['Ana (from {{cidade}}), hi', ana, 'Ana, hi', ['cidade']],
    ['Ana, {{cidade}}, bought it', ana, 'Ana, bought it', ['cidade']],
    ['Ana - {{cidade}} - bought it', ana, 'Ana - bought it', ['cidade']],
    ['{{cidade}}: Ana bought it', ana, 'Ana bought it', ['cidade']],
    ['It is here: {{cidade}}', ana, 'It is here', ['cidade']],
    ['It is here: {{cidade}}.', ana, 'It is here.', ['cidade']],
    ['Approved. Send to: {{cidade}} {{nota}}', ana, 'Approved.', ['cidade', 'nota']],
    ['Aprovado. Envie para: {{cidade}}. Obrigado!', ana, 'Aprovado. Obrigado!', ['cidade']],
    ['Até o {{cidade}}, {{name}}', ana, 'Ana Souza', ['cidade']],
    ['No llegaron antes del {{cidade}}.', ana, 'No llegaron.', ['cidade']],
    ['Code: {{cidade}}\nName: {{name}}', ana, 'Name: Ana Souza', ['cidade']],
    ['Oi {{name}}! Seu cupom: {{cidade}}', ana, 'Oi Ana Souza!', ['cidade']],
    ['Pedido enviado: {{cidade}}', ana, 'Pedido enviado', ['cidade']],
    ['Oi\nRastreio: {{cidade}}', ana, 'Oi', ['cidade']],
    ['Oi\n{{cidade}}\nTchau', ana, 'Oi\nTchau', ['cidade']],
    ['From {{name}} to {{cidade}}', ana, 'From Ana Souza', ['cidade']],
    ['Potato {{cidade}} avoid', ana, 'Potato avoid', ['cidade']],
    ['Ana from ({{cidade}}) bought', ana, 'Ana bought', ['cidade']],
    ['(a) {{name}} “{{cidade}}”', ana, '(a) Ana Souza', ['cidade']],
    ['{{cupom}} {{cupom}} {{cupom}}', {}, '', ['cupom']],
    ['dois  espaços , como escrito ', ana, 'dois  espaços , como escrito ', []],
    ['{{name}}', { name: '{{firstName}}' }, '{{firstName}}', []],
    ['{{name|}}.', {}, '', ['name']],
    ['{{name|a|b}}', {}, 'a|b', []],
    ['{{name}}', { name: 'A\u0000n\na\t B\u0007' }, 'An a B', []],
    ['Oi {{name|tudo bem}}!', { name: '\u3164' }, 'Oi tudo bem!', []],
    ['Oi {{name}}!', { name: '\u200e \u2800' }, 'Oi!', ['name']],
    ['{{name}}', { name: '👩\u200d🔬' }, '👩\u200d🔬', []],
    ['{{toString}}{{constructor|x}}', {}, 'x', ['toString']],
    ['{ {name} } }} {', ana, '{ {name} } }} {', []],
    ['', ana, '', []],
  ])('%j for %j', (text, values, expected, missing) => {
    expect(renderText(text, values)).toEqual({ text: expected, missing })
  })

  test('names are case-sensitive', () => {
    expect(renderText('{{Cupom}}{{cupom}}', { cupom: 'a' })).toEqual({ text: 'a', missing: ['Cupom'] })
  })
})

test.each([
  ['{{firstName}}', { firstName: 'Ana\r\n Maria\t\tLima' }, 'Ana Maria Lima', []],
  ['  {{firstName}},\n\nhello   you ', { firstName: 'Ana' }, 'Ana, hello you', []],
  ['{{firstName}}: 1 2', { firstName: '\u202eAna\u2066' }, 'Ana: 1 2', []],
  ['{{cupom}}', {}, '', ['cupom']],
  ['use {{cupom}} !', {}, 'use!', ['cupom']],
])('parameter %j for %j', (text, values, expected, missing) => {
  expect(renderParameter(text, values)).toEqual({ text: expected, missing })
})

test.each([
  ['Hello', null],
  ['{{name}} {{custom_1|x}}', null],
  ['}} and { alone', null],
  ['{{name', 'has a "{{" without its "}}"'],
  ['{{name {{firstName}}', 'has a "{{" without its "}}"'],
  ['{{name|{{firstName}}}}', 'has a "{{" without its "}}"'],
  ['{{}}', 'has the variable {{}}'],
  ['{{ }}', 'has the variable {{ }}'],
  ['{{1}}', 'has the variable {{1}}'],
  ['{{first name}}', 'has the variable {{first name}}'],
  ['{{ção}}', 'has the variable {{ção}}'],
  [`{{${'a'.repeat(41)}}}`, 'has the variable'],
  ['{{{name}}}', 'has the variable {{{name}}'],
])('fault of %j', (text, expected) => {
  if (expected === null) expect(findVariableIssue(text)).toBeNull()
  else expect(findVariableIssue(text)).toContain(expected)
})

test('an unknown name is reported, with the known ones', () => {
  const known = new Set(['name', 'storeName'])
  expect(findVariableIssue('{{name}} {{orderNumber}}', known)).toBe(
    'has the variable {{orderNumber}}, which there is not here: use name, storeName',
  )
  expect(findVariableIssue('{{name}} {{storeName|x}}', known)).toBeNull()
})

test('parts keep the text in between', () => {
  expect(parseVariables('a {{b|c}} d')).toEqual({ parts: ['a ', { name: 'b', fallback: 'c' }, ' d'] })
})

test.each([
  ['Hi {{name}}, {{ productName }}!', { name: 'Ana', productName: 'Lamp' }, 'Hi Ana, Lamp!'],
  ['Hi {{name}}! {{nope}} , {{name|you}}', {}, 'Hi! you'],
  ['{{broken {{name}} {{1x}} {{a|b}c}} }}', { name: 'Ana' }, '{{broken Ana {{1x}} {{a|b}c}} }}'],
  ['{{name}}', { name: '{{storeName}}', storeName: 'X' }, '{{storeName}}'],
])('an unvalidated text is rendered as far as possible: %j', (text, values, expected) => {
  expect(renderLoosely(text, values)).toBe(expected)
})

test('a gap in a long text is closed in no time', () => {
  for (const run of ['  ', 'a ', '-', '. ', 'x: ', 'of ', '(', '\n', 'word ']) {
    const text = `{{name}}${run.repeat(20_000)}{{name}}`
    expect(renderText(text, {}).text.length).toBeLessThan(text.length)
  }
}, 2_000)
