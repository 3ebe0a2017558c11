/** Names of the columns of contacts: our own, those of other programs, and what people call them. */
import type { headers } from '#operations/store/index'

/** The column of our exports with the WhatsApp id of a person whose phone is hidden. Older exports lack it. */
export const personIdColumn = 'whatsapp_user_id'

/**
 * Columns that fill a contact. Sources: Google Contacts (`Given Name`, `First Name`, `E-mail 1 - Value`), Outlook
 * (`E-mail Address`, `Mobile Phone`), Mailchimp (`Email Address`, `FNAME`, `LNAME`, `SMS Phone Number`), Klaviyo
 * (`Phone Number`), Brevo (`FIRSTNAME`, `SMS`, `WHATSAPP`), Shopify customers (`Default Address Phone`: the customer's
 * own phone may be blank), Nuvemshop and Tiendanube customers (`Nome`, `E-mail`, `Telefone`, `Nombre`, `Teléfono`).
 */
export const contactNames = {
  // Messages reach mobiles: their columns come before those of any phone.
  phone: [
    ['phone'],
    [
      ...['whatsapp', 'celular', 'mobile', 'Mobile Phone', 'Mobile Number', 'Cell Phone', 'Cell', 'Móvil'],
      ...['Telefone celular', 'Telefone móvel', 'Número de celular', 'Teléfono móvil', 'Teléfono celular'],
      ...['WhatsApp Number', 'Número de WhatsApp', 'SMS Phone Number'],
    ],
    [
      ...['telefone', 'telefono', 'Phone Number', 'Phone 1 - Value', 'Fone', 'Tel'],
      ...['Número de telefone', 'Número de teléfono', 'Telefone do cliente', 'Teléfono del cliente'],
      ...['Customer Phone', 'Contact Phone'],
    ],
    ['SMS'],
  ],
  /** Phones for rows whose `phone` is blank. */
  otherPhone: [
    ['Default Address Phone', 'Primary Phone', 'Phone 2 - Value', 'Phone 3 - Value', 'Phone 4 - Value'],
    ['Home Phone', 'Home Phone 2', 'Other Phone', 'Business Phone', 'Business Phone 2', 'Landline Number'],
    [personIdColumn],
  ],
  name: [
    ['name', 'Full Name', 'Nome completo', 'Nombre completo', 'Nombre y apellido', 'Display Name'],
    [
      'nome',
      'nombre',
      'Customer Name',
      'Contact Name',
      'Nome do cliente',
      'Nombre del cliente',
      'Customer',
      'Cliente',
    ],
  ],
  firstName: [['First Name', 'Given Name', 'FNAME', 'Primeiro nome', 'Primer nombre', 'Prénom', 'Vorname']],
  middleName: [['Middle Name', 'Additional Name', 'Nome do meio', 'Segundo nombre']],
  lastName: [
    ['Last Name', 'Family Name', 'Surname', 'LNAME', 'Sobrenome', 'Último nome', 'Apelido', 'Nachname'],
    ['Apellido', 'Apellidos', 'Apellido paterno', 'Primer apellido'],
  ],
  secondLastName: [['Apellido materno', 'Segundo apellido']],
  email: [
    [
      ...['email', 'e-mail', 'correo', 'mail', 'Email Address', 'E-mail Address', 'E-mail 1 - Value'],
      ...[
        'Correo electrónico',
        'Dirección de correo electrónico',
        'Endereço de email',
        'E-mail do cliente',
        'Customer Email',
      ],
    ],
  ],
} as const satisfies Record<string, headers.Names>

/** The columns of our own export. The others of such a file are custom fields under their own names. */
export const exportedColumns = ['phone', 'name', 'email', 'source', 'opted_out', 'created_at'] as const

/** Columns of our exports and answers that an import does not change. */
export const readOnlyColumns: headers.Names = [
  ['id', 'list id', 'source', 'opted out', 'created at', 'updated at', 'platform customer id'],
]

interface Program {
  /** Columns of which each tells the program. */
  markers: readonly string[]
  /** Columns that the program keeps for itself, in the form of `foldHeader`: no custom fields are made of them. */
  technical: readonly RegExp[]
}

/** Programs whose exports have more columns than a contact has custom fields. */
export const programs: readonly Program[] = [
  // Google Contacts, also before 2024.
  {
    markers: ['Phone 1 - Value', 'E-mail 1 - Value', 'Phone 1 - Type', 'Phone 1 - Label'],
    technical: [
      /^(?:phone|email|address|im|relation|website|event|organization|externalid|calendarlink|jot|customfield)\d+(?:type|label|service|protocol|yominame|symbol|location|jobdescription)$/,
      /^(?:email|phone)[2-9]\d*value$/,
      /^address\d+(?:formatted|pobox|extendedaddress)$|^address[2-9]/,
      /^(?:relation|event|im|website|externalid|jot|calendarlink)\d+value$/,
      /yomi|^phonetic|^(?:fileas|directoryserver|nameprefix|namesuffix|initials|shortname|maidenname|photo)$/,
      /^(?:gender|language|mileage|sensitivity|priority|subject|billinginformation)$/,
    ],
  },
  // Outlook, classic and new.
  {
    markers: ['Business Street', 'Company Main Phone', 'TTY/TDD Phone'],
    technical: [
      /yomi|fax$|pager$|telex$|^(?:isdn|callback|carphone|radiophone|ttytddphone|companymainphone|assistantsphone)$/,
      /^email\d*(?:type|displayname)$|^email[2-9]address$/,
      /^(?:home|business|other)(?:address.*|street\d?|postalcode|countryregion)$|^other(?:city|state)$/,
      /^(?:account|children|governmentidnumber|organizationalidnumber|internetfreebusy|keywords|referredby|imaddress)$/,
      /^(?:assistantsname|managersname|officelocation|user[1-4]|schools|hobby|profession|spouse|personalwebpage|webpage)$/,
      /^(?:suffix|initials|gender|language|mileage|sensitivity|priority|private|billinginformation|directoryserver)$/,
    ],
  },
  // Mailchimp.
  {
    markers: ['LEID', 'EUID', 'MEMBER_RATING'],
    technical: [
      /^(?:memberrating|optintime|optinip|confirmtime|confirmip|latitude|longitude|gmtoff|dstoff|timezone)$/,
      /^(?:lastchanged|leid|euid|unsubcampaign(?:id|title))$/,
    ],
  },
  // Klaviyo.
  {
    markers: ['Klaviyo ID'],
    technical: [
      /^(?:klaviyoid|ipaddress|latitude|longitude|profilecreatedon)$|timestamp$/,
      /^(?:predicted|historic|expected|averagedays|churn|totalcustomerlifetime|(?:initial|last)source)/,
      /^(?:first|last)(?:active|open|click|emailed)$|utm(?:source|medium|campaign)/,
    ],
  },
  // Brevo.
  {
    markers: ['EMAIL_BLACKLISTED', 'SMS_BLACKLISTED', 'DOUBLE_OPT-IN', 'LANDLINE_NUMBER'],
    technical: [/^(?:contactid|addedtime|modifiedtime|emailid)$/],
  },
  // Shopify customers.
  {
    markers: ['Default Address Phone', 'Default Address City'],
    technical: [/^(?:customerid|defaultaddress(?:company|address[12]|zip)|taxexempt)$/],
  },
]
