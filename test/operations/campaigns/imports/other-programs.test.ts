/** Files of other programs are imported as they are (rule 7). The headers are those that the programs write. */
import { describe, expect, test } from 'vitest'
import importCsv from '#operations/campaigns/imports/api/import-csv'
import { resolveLayout } from '#operations/campaigns/imports/csv-columns'
import { parseRow } from '#operations/campaigns/imports/csv-rows'
import { testApp } from '#test/support/app'
import { readRows } from '#test/support/csv-reader'
import { read, readContacts } from '#test/support/imports'
import { store } from '#test/support/store'

const outlook = [
  ...['Title', 'First Name', 'Middle Name', 'Last Name', 'Suffix', 'Company', 'Department', 'Job Title'],
  ...['Business', 'Home', 'Other'].flatMap((kind) =>
    ['Street', 'Street 2', 'Street 3', 'City', 'State', 'Postal Code', 'Country/Region'].map(
      (part) => `${kind} ${part}`,
    ),
  ),
  ...["Assistant's Phone", 'Business Fax', 'Business Phone', 'Business Phone 2', 'Callback', 'Car Phone'],
  ...['Company Main Phone', 'Home Fax', 'Home Phone', 'Home Phone 2', 'ISDN', 'Mobile Phone', 'Other Fax'],
  ...['Other Phone', 'Pager', 'Primary Phone', 'Radio Phone', 'TTY/TDD Phone', 'Telex', 'Account'],
  ...['Anniversary', "Assistant's Name", 'Billing Information', 'Birthday', 'Business Address PO Box'],
  ...['Categories', 'Children', 'Directory Server', 'E-mail Address', 'E-mail Type', 'E-mail Display Name'],
  ...['E-mail 2 Address', 'E-mail 2 Type', 'E-mail 2 Display Name', 'E-mail 3 Address', 'E-mail 3 Type'],
  ...['E-mail 3 Display Name', 'Gender', 'Government ID Number', 'Hobby', 'Home Address PO Box', 'Initials'],
  ...['Internet Free Busy', 'Keywords', 'Language', 'Location', "Manager's Name", 'Mileage', 'Notes'],
  ...[
    'Office Location',
    'Organizational ID Number',
    'Other Address PO Box',
    'Priority',
    'Private',
    'Profession',
  ],
  ...['Referred By', 'Sensitivity', 'Spouse', 'User 1', 'User 2', 'User 3', 'User 4', 'Web Page'],
]
const google = [
  ...['First Name', 'Middle Name', 'Last Name', 'Phonetic First Name', 'Phonetic Middle Name'],
  ...['Phonetic Last Name', 'Name Prefix', 'Name Suffix', 'Nickname', 'File As', 'Organization Name'],
  ...['Organization Title', 'Organization Department', 'Birthday', 'Notes', 'Photo', 'Labels'],
  ...[1, 2, 3].flatMap((n) => [`E-mail ${n} - Label`, `E-mail ${n} - Value`]),
  ...[1, 2, 3].flatMap((n) => [`Phone ${n} - Label`, `Phone ${n} - Value`]),
  ...[
    'Label',
    'Formatted',
    'Street',
    'City',
    'PO Box',
    'Region',
    'Postal Code',
    'Country',
    'Extended Address',
  ].map((part) => `Address 1 - ${part}`),
  ...['Website 1 - Label', 'Website 1 - Value', 'Relation 1 - Label', 'Relation 1 - Value'],
]
const googleBefore = [
  ...['Name', 'Given Name', 'Additional Name', 'Family Name', 'Yomi Name', 'Given Name Yomi'],
  ...['Additional Name Yomi', 'Family Name Yomi', 'Name Prefix', 'Name Suffix', 'Initials', 'Nickname'],
  ...[
    'Short Name',
    'Maiden Name',
    'Birthday',
    'Gender',
    'Location',
    'Billing Information',
    'Directory Server',
  ],
  ...['Mileage', 'Occupation', 'Hobby', 'Sensitivity', 'Priority', 'Subject', 'Notes', 'Language', 'Photo'],
  ...['Group Membership', 'E-mail 1 - Type', 'E-mail 1 - Value', 'Phone 1 - Type', 'Phone 1 - Value'],
  ...['Type', 'Name', 'Yomi Name', 'Title', 'Department', 'Symbol', 'Location', 'Job Description'].map(
    (part) => `Organization 1 - ${part}`,
  ),
]
const klaviyo = [
  ...['Email', 'Klaviyo ID', 'First Name', 'Last Name', 'Organization', 'Title', 'Phone Number', 'Address'],
  ...['Address 2', 'City', 'State / Region', 'Country', 'Zip Code', 'Latitude', 'Longitude', 'Source'],
  ...['IP Address', 'Email Marketing Consent', 'Email Marketing Consent Timestamp', 'Initial Source'],
  ...[
    'Last Source',
    'Date Added',
    'Profile Created On',
    'First Active',
    'Last Active',
    'Last Open',
    'Last Click',
  ],
  ...['Total Customer Lifetime Value', 'Predicted Customer Lifetime Value', 'Historic Number Of Orders'],
  ...['Average Order Value', 'Churn Risk Prediction', 'Expected Date Of Next Order'],
]

/** By program: its header, and the cells of one person; other cells are `x`. */
const programs: Readonly<Record<string, [header: string[], person: Record<string, string>]>> = {
  'Google Contacts': [
    google,
    {
      'First Name': 'Ana',
      'Middle Name': 'Clara',
      'Last Name': 'Souza',
      'E-mail 1 - Value': 'ana@example.com ::: ana@work.example',
      'Phone 1 - Value': '(11) 98888-7771 ::: (11) 3333-4444',
    },
  ],
  'Google Contacts before 2024': [
    googleBefore,
    {
      Name: 'Ana Clara Souza',
      'E-mail 1 - Value': 'ana@example.com',
      'Phone 1 - Value': '+55 11 98888-7771',
    },
  ],
  Outlook: [
    outlook,
    {
      'First Name': 'Ana',
      'Middle Name': 'Clara',
      'Last Name': 'Souza',
      'E-mail Address': 'ana@example.com',
      'Home Phone': '(11) 3333-4444',
      'Mobile Phone': '(11) 98888-7771',
    },
  ],
  Mailchimp: [
    [
      ...['Email Address', 'First Name', 'Last Name', 'Address', 'Phone Number', 'Birthday', 'MEMBER_RATING'],
      ...[
        'OPTIN_TIME',
        'OPTIN_IP',
        'CONFIRM_TIME',
        'CONFIRM_IP',
        'LATITUDE',
        'LONGITUDE',
        'GMTOFF',
        'DSTOFF',
      ],
      ...['TIMEZONE', 'CC', 'REGION', 'LAST_CHANGED', 'LEID', 'EUID', 'NOTES', 'TAGS'],
    ],
    {
      'Email Address': 'ana@example.com',
      'First Name': 'Ana Clara',
      'Last Name': 'Souza',
      'Phone Number': '11988887771',
    },
  ],
  Klaviyo: [
    klaviyo,
    {
      Email: 'ana@example.com',
      'First Name': 'Ana Clara',
      'Last Name': 'Souza',
      'Phone Number': '+5511988887771',
    },
  ],
  Brevo: [
    [
      ...['CONTACT ID', 'EMAIL', 'FIRSTNAME', 'LASTNAME', 'SMS', 'LANDLINE_NUMBER', 'WHATSAPP', 'INTERESTS'],
      ...['DOUBLE_OPT-IN', 'OPT_IN', 'EMAIL_BLACKLISTED', 'SMS_BLACKLISTED', 'ADDED_TIME', 'MODIFIED_TIME'],
    ],
    {
      EMAIL: 'ana@example.com',
      FIRSTNAME: 'Ana Clara',
      LASTNAME: 'Souza',
      SMS: '',
      WHATSAPP: '5511988887771',
    },
  ],
  'Shopify customers': [
    [
      ...[
        'Customer ID',
        'First Name',
        'Last Name',
        'Email',
        'Accepts Email Marketing',
        'Default Address Company',
      ],
      ...['Default Address Address1', 'Default Address Address2', 'Default Address City'],
      ...['Default Address Province Code', 'Default Address Country Code', 'Default Address Zip'],
      ...['Default Address Phone', 'Phone', 'Accepts SMS Marketing', 'Total Spent', 'Total Orders', 'Note'],
      ...['Tax Exempt', 'Tags'],
    ],
    {
      'Customer ID': "'7012345678901",
      'First Name': 'Ana Clara',
      'Last Name': 'Souza',
      Email: 'ana@example.com',
      'Default Address Phone': "'+55 11 98888-7771",
      Phone: '',
    },
  ],
  'Nuvemshop customers': [
    [
      ...['Nome', 'E-mail', 'Telefone', 'CPF/CNPJ', 'Aceita marketing', 'Endereço', 'Número', 'Complemento'],
      ...['Bairro', 'Cidade', 'CEP', 'Estado', 'País', 'Total gasto', 'Observações'],
    ],
    { Nome: 'Ana Clara Souza', 'E-mail': 'ana@example.com', Telefone: '+55 (11) 98888-7771' },
  ],
  'Tiendanube customers': [
    ['Nombre', 'Apellido', 'Email', 'Teléfono', 'DNI', 'Dirección', 'Ciudad', 'Provincia', 'Código postal'],
    { Nombre: 'Ana Clara', Apellido: 'Souza', Email: 'ana@example.com', Teléfono: '+5511988887771' },
  ],
  'a Brazilian spreadsheet': [
    ['Nome', 'Sobrenome', 'Celular', 'E-mail', 'Cidade'],
    { Nome: 'Ana Clara', Sobrenome: 'Souza', Celular: '11988887771', 'E-mail': 'ana@example.com' },
  ],
}
const all = Object.entries(programs)

const toCells = ([header, person]: (typeof programs)[string]): string[] =>
  header.map((column) => person[column] ?? 'x')

describe.each(all)('%s', (_name, [header, person]) => {
  test('a person has the name, email and phone, and a valid set of custom fields, whatever is filled in', () => {
    const layout = resolveLayout({ columns: header, rows: [toCells([header, person])] })
    const entry = parseRow(
      2,
      toCells([header, person]).map((cell) => cell.replace(/^'/, '')),
      layout,
      'BR',
    )
    expect(entry).toMatchObject({
      name: 'Ana Clara Souza',
      email: 'ana@example.com',
      phone: '+5511988887771',
    })
    expect(Object.keys(layout.customFields).length).toBeLessThanOrEqual(20)
  })
})

test('the files are imported through the operation, with blank trailing cells', async () => {
  const app = await testApp()
  for (const [name, [header, person]] of all) {
    const shop = await store(app)
    const rows = [[...toCells([header, person]), '', ' '], []]
    const answer = await shop.call(importCsv, { body: { name, columns: [...header, '', ''], rows } })
    expect([name, answer.status, answer.body.error]).toEqual([name, 202, undefined])
    await app.drainJobs()
    expect([name, (await read(shop, answer.body.listId)).import]).toMatchObject([
      name,
      { added: 1, invalid: 0, foreignPhones: 0, errors: [] },
    ])
    expect(await readContacts(shop, answer.body.listId)).toMatchObject([
      { name: 'Ana Clara Souza', email: 'ana@example.com', phone: '+5511988887771' },
    ])
  }
})

test('a column that only one of the programs keeps for itself is a custom field of other files', () => {
  const columns = ['phone', 'gender', 'language', 'hobby', 'Priority', 'timezone', 'Customer ID', 'Title']
  expect(resolveLayout({ columns }).customFields).toEqual({
    gender: 1,
    language: 2,
    hobby: 3,
    priority: 4,
    timezone: 5,
    customerID: 6,
    title: 7,
  })
})

test('phones of another country are counted', async () => {
  const app = await testApp()
  const shop = await store(app)
  const rows = [['+5511988887771'], ['+41415552671'], ['+41 41 555 26 72'], ['abc']]
  const { body } = await shop.call(importCsv, { body: { name: 'Mixed', columns: ['phone'], rows } })
  await app.drainJobs()
  expect((await read(shop, body.listId)).import).toMatchObject({ added: 3, invalid: 1, foreignPhones: 2 })
})

test('an independent reader refuses a quote in the middle of a cell', () => {
  expect(readRows('a,"b\n""c""",\r\nd,,e')).toEqual([
    ['a', 'b\n"c"', ''],
    ['d', '', 'e'],
  ])
  expect(() => readRows('a"b,c')).toThrow('middle')
  expect(() => readRows('"a')).toThrow('open')
})
