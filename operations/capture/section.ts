import { section } from '#runtime/section'

export default section({
  title: 'Popup, newsletter and forms',
  description:
    'The popup (with coupon or roulette) and the contact form capture new contacts on the storefront; these are listed, exported, pushed to an email provider and added to lists.',
  position: 9,
  order: [
    'get_newsletter_all_suscribers',
    'get_newsletter_settings',
    'post_newsletter_settings',
    'get_newsletter_publication_status',
    'post_newsletter_preview',
    'get_newsletter_metrics',
    'get_newsletter_export_subscribers',
    'post_newsletter_upload_image',
    'get_contact_form_settings',
    'put_contact_form_settings',
    'get_contact_form_crm_lists',
    'get_contact_form_submissions',
    'get_contact_form_submissions_export',
    'post_contact_form_submissions_delete',
    'post_mailprovider_sync_contacts',
  ],
  words: {
    synonyms: [
      'newsletter subscriber suscriber popup mailing',
      'popup roulette wheel overlay',
      'subscriber suscriber signup lead',
    ],
    sectionSynonyms: [
      'form contact question inquiry enquiry lead',
      'submission question message write sent came entry',
      'publication show live appear visible',
      'subscriber email address list',
      'mailprovider mailchimp brevo email provider',
      'metric convert perform',
    ],
    translations: [
      'assinante suscriptor inscrito inscrever inscribir cadastrar cadastro cadastrado registrado registrar suscribir anotar: subscriber newsletter signup',
      'janela emergente popup: popup newsletter',
      'roleta ruleta: roulette wheel popup',
      'formulario: form',
      'pergunta pregunta duvida duda consulta: question contact form',
      'pagina_de_contato pagina_de_contacto formulario_de_contato formulario_de_contacto: contact & form submission',
      'premio: prize',
    ],
  },
})
