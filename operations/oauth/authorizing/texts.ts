/** Texts of the pages on which a merchant connects an assistant. */

export const pageWords = {
  connect: { en: 'Connect {{client}}', 'pt-BR': 'Conectar {{client}}', es: 'Conectar {{client}}' },
  asks: {
    en: '{{client}} asks to work in your store through this server.',
    'pt-BR': '{{client}} pede para trabalhar na sua loja por meio deste servidor.',
    es: '{{client}} pide trabajar en tu tienda a través de este servidor.',
  },
  leadsTo: {
    en: 'You will be led back to {{place}}.',
    'pt-BR': 'Você será levado de volta a {{place}}.',
    es: 'Volverás a {{place}}.',
  },
  leadsHere: {
    en: 'You will be led back to a program on this device.',
    'pt-BR': 'Você será levado de volta a um programa neste dispositivo.',
    es: 'Volverás a un programa en este dispositivo.',
  },
  vouched: {
    en: 'Its details come from {{document}}.',
    'pt-BR': 'Os dados dele vêm de {{document}}.',
    es: 'Sus datos vienen de {{document}}.',
  },
  beware: {
    en: 'The name is its own word. Go on only if you have just begun this yourself.',
    'pt-BR': 'O nome é palavra dele. Continue apenas se você mesmo acabou de começar isto.',
    es: 'El nombre lo dice el propio programa. Sigue solo si acabas de empezar esto.',
  },
  key: { en: 'API key of your store', 'pt-BR': 'Chave de API da sua loja', es: 'Clave de API de tu tienda' },
  keyHint: {
    en: 'It begins with mk_ and stays here: the assistant gets a key of its own, which can do no more than this one and ends with it.',
    'pt-BR':
      'Começa com mk_ e fica aqui: o assistente recebe uma chave própria, que não pode mais do que esta e termina com ela.',
    es: 'Empieza por mk_ y se queda aquí: el asistente recibe una clave propia, que no puede más que esta y termina con ella.',
  },
  goOn: { en: 'Continue', 'pt-BR': 'Continuar', es: 'Continuar' },
  cancel: { en: 'Cancel', 'pt-BR': 'Cancelar', es: 'Cancelar' },
  faults: {
    'unknown-key': {
      en: 'This key is not valid, has expired or was revoked.',
      'pt-BR': 'Esta chave não é válida, expirou ou foi revogada.',
      es: 'Esta clave no es válida, ha caducado o fue revocada.',
    },
    'child-key': {
      en: 'This is the key of an assistant. Use one that was made for you.',
      'pt-BR': 'Esta é a chave de um assistente. Use uma que foi criada para você.',
      es: 'Esta es la clave de un asistente. Usa una que se haya creado para ti.',
    },
    'no-scope': {
      en: 'This key may do nothing of what the assistant asks for. Use another one.',
      'pt-BR': 'Esta chave não permite nada do que o assistente pede. Use outra.',
      es: 'Esta clave no permite nada de lo que pide el asistente. Usa otra.',
    },
    'too-often': {
      en: 'Too many keys were tried from your address. Wait {{minutes}} minutes.',
      'pt-BR': 'Muitas chaves foram tentadas do seu endereço. Aguarde {{minutes}} minutos.',
      es: 'Se probaron demasiadas claves desde tu dirección. Espera {{minutes}} minutos.',
    },
  },
  allow: {
    en: 'What may {{client}} do in {{store}}?',
    'pt-BR': 'O que {{client}} pode fazer em {{store}}?',
    es: '¿Qué puede hacer {{client}} en {{store}}?',
  },
  rights: { en: 'It may', 'pt-BR': 'Pode', es: 'Puede' },
  scopes: {
    'platform:read': {
      en: 'Look: read everything of the store that you can read',
      'pt-BR': 'Ver: ler tudo da loja que você pode ler',
      es: 'Ver: leer todo lo de la tienda que tú puedes leer',
    },
    'platform:write': {
      en: 'Change: create, edit and delete',
      'pt-BR': 'Alterar: criar, editar e excluir',
      es: 'Cambiar: crear, editar y borrar',
    },
    'messages:send': {
      en: 'Send messages to customers (needs Change)',
      'pt-BR': 'Enviar mensagens a clientes (requer Alterar)',
      es: 'Enviar mensajes a clientes (requiere Cambiar)',
    },
    'billing:write': {
      en: 'Change the subscription and payment (needs Change)',
      'pt-BR': 'Alterar a assinatura e o pagamento (requer Alterar)',
      es: 'Cambiar la suscripción y el pago (requiere Cambiar)',
    },
    'team:write': {
      en: 'Invite and remove people of the team (needs Change)',
      'pt-BR': 'Convidar e remover pessoas da equipe (requer Alterar)',
      es: 'Invitar y quitar personas del equipo (requiere Cambiar)',
    },
    'integrations:write': {
      en: 'Change connections to other services (needs Change)',
      'pt-BR': 'Alterar conexões com outros serviços (requer Alterar)',
      es: 'Cambiar conexiones con otros servicios (requiere Cambiar)',
    },
  },
  connected: {
    en: '{{client}} is already connected to {{store}}. If you deny, it keeps what it may do now.',
    'pt-BR': '{{client}} já está conectado a {{store}}. Se você negar, ele continua com o que já pode fazer.',
    es: '{{client}} ya está conectado a {{store}}. Si deniegas, conserva lo que ya puede hacer.',
  },
  tick: {
    en: 'Tick what is new to allow it too.',
    'pt-BR': 'Marque o que é novo para permitir também.',
    es: 'Marca lo nuevo para permitirlo también.',
  },
  kept: { en: 'already allowed', 'pt-BR': 'já permitido', es: 'ya permitido' },
  added: { en: 'new', 'pt-BR': 'novo', es: 'nuevo' },
  lacking: {
    en: 'It also asks for {{scopes}}, which your key cannot allow. To allow it, begin again with a key that can.',
    'pt-BR':
      'Ele também pede {{scopes}}, que sua chave não pode permitir. Para permitir, comece de novo com uma chave que possa.',
    es: 'También pide {{scopes}}, que tu clave no puede permitir. Para permitirlo, empieza de nuevo con una clave que pueda.',
  },
  pick: {
    en: 'Choose at least one; sending, billing, team and connections need Change as well.',
    'pt-BR': 'Escolha ao menos um; envio, pagamento, equipe e conexões também requerem Alterar.',
    es: 'Elige al menos uno; envíos, pago, equipo y conexiones también requieren Cambiar.',
  },
  howLong: { en: 'For how long', 'pt-BR': 'Por quanto tempo', es: 'Durante cuánto tiempo' },
  days: { en: '{{days}} days', 'pt-BR': '{{days}} dias', es: '{{days}} días' },
  endsWith: {
    en: 'It ends sooner if the key that you showed ends.',
    'pt-BR': 'Termina antes se a chave que você mostrou terminar.',
    es: 'Termina antes si termina la clave que mostraste.',
  },
  yes: { en: 'Allow', 'pt-BR': 'Permitir', es: 'Permitir' },
  no: { en: 'Deny', 'pt-BR': 'Negar', es: 'Denegar' },
  astray: {
    en: 'The assistant cannot be connected',
    'pt-BR': 'O assistente não pode ser conectado',
    es: 'El asistente no se puede conectar',
  },
} as const
