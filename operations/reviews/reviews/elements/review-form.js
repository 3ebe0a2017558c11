// The review form: for the product of the page, or for the order of a review request's link.

import { inkOn } from '../../../storefront/script/client/colours.js'
import { h, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'
import { Field, formTexts, Trap, useForm } from '../../../storefront/script/client/forms.js'
import { truncate } from '../../../storefront/script/client/texts.js'

const bytesAtMost = 10 * 1024 * 1024
const pictureTypes = ['image/jpeg', 'image/png', 'image/webp']

const texts = {
  en: {
    ...formTexts.en,
    rating: 'Your rating',
    ofStars: '{{rating}} of 5 stars',
    product: 'Product',
    title: 'Title',
    text: 'Your opinion',
    name: 'Your name',
    email: 'Your email',
    emailHint: 'It is not published.',
    pictures: 'Pictures (up to {{count}})',
    sending: 'Sending…',
    uploading: 'Uploading…',
    remove: 'Remove picture {{at}}',
    send: 'Send the review',
    replaces: 'You have reviewed it: sending again replaces what you wrote.',
    thanks: 'Thank you for your review!',
    approved: 'It is published already.',
    pending: 'It will be published once the shop has read it.',
    confirm:
      'If you bought the product with this email, we have sent you a link that marks your review as a verified purchase.',
    customersOnly: 'Only customers can review: use the link that we send you after your order.',
    deadLink: 'This link is not valid any more: use the one in your latest email.',
    ratingFault: 'Choose from 1 to 5 stars.',
    picturesFault: 'Pictures are JPEG, PNG or WebP, and at most 10 MB each.',
    tooManyFault: 'There can be at most {{count}} pictures.',
    uploadFault: 'A picture could not be uploaded. Try it again.',
    already: 'There is a review of this product by this email already.',
    tooMany: 'These were too many tries: wait a little, and try again.',
    sendFault: 'The review could not be sent. Try it again.',
  },
  'pt-BR': {
    ...formTexts['pt-BR'],
    rating: 'Sua nota',
    ofStars: '{{rating}} de 5 estrelas',
    product: 'Produto',
    title: 'Título',
    text: 'Sua opinião',
    name: 'Seu nome',
    email: 'Seu e-mail',
    emailHint: 'Ele não é publicado.',
    pictures: 'Fotos (até {{count}})',
    sending: 'Enviando…',
    uploading: 'Enviando…',
    remove: 'Remover a foto {{at}}',
    send: 'Enviar avaliação',
    replaces: 'Você já avaliou este produto: enviar de novo substitui o que escreveu.',
    thanks: 'Obrigado pela sua avaliação!',
    approved: 'Ela já está publicada.',
    pending: 'Ela será publicada depois que a loja a ler.',
    confirm:
      'Se você comprou o produto com este e-mail, enviamos um link que marca sua avaliação como compra verificada.',
    customersOnly: 'Só clientes podem avaliar: use o link que enviamos depois do seu pedido.',
    deadLink: 'Este link não vale mais: use o do seu e-mail mais recente.',
    ratingFault: 'Escolha de 1 a 5 estrelas.',
    picturesFault: 'As fotos são JPEG, PNG ou WebP, com no máximo 10 MB cada.',
    tooManyFault: 'São no máximo {{count}} fotos.',
    uploadFault: 'Não foi possível enviar uma foto. Tente de novo.',
    already: 'Já existe uma avaliação deste produto com este e-mail.',
    tooMany: 'Foram tentativas demais: espere um pouco e tente de novo.',
    sendFault: 'Não foi possível enviar a avaliação. Tente de novo.',
  },
  es: {
    ...formTexts.es,
    rating: 'Tu puntuación',
    ofStars: '{{rating}} de 5 estrellas',
    product: 'Producto',
    title: 'Título',
    text: 'Tu opinión',
    name: 'Tu nombre',
    email: 'Tu correo',
    emailHint: 'No se publica.',
    pictures: 'Fotos (hasta {{count}})',
    sending: 'Enviando…',
    uploading: 'Subiendo…',
    remove: 'Quitar la foto {{at}}',
    send: 'Enviar opinión',
    replaces: 'Ya opinaste sobre este producto: si envías de nuevo se reemplaza lo que escribiste.',
    thanks: '¡Gracias por tu opinión!',
    approved: 'Ya está publicada.',
    pending: 'Se publicará cuando la tienda la haya leído.',
    confirm:
      'Si compraste el producto con este correo, te enviamos un enlace que marca tu opinión como compra verificada.',
    customersOnly: 'Solo los clientes pueden opinar: usa el enlace que enviamos después de tu pedido.',
    deadLink: 'Este enlace ya no es válido: usa el de tu correo más reciente.',
    ratingFault: 'Elige de 1 a 5 estrellas.',
    picturesFault: 'Las fotos son JPEG, PNG o WebP, de 10 MB como máximo cada una.',
    tooManyFault: 'Puede haber {{count}} fotos como máximo.',
    uploadFault: 'No se pudo subir una foto. Inténtalo de nuevo.',
    already: 'Ya hay una opinión de este producto con este correo.',
    tooMany: 'Fueron demasiados intentos: espera un poco e inténtalo de nuevo.',
    sendFault: 'No se pudo enviar la opinión. Inténtalo de nuevo.',
  },
}

export default { texts, view: ReviewForm }

function ReviewForm({ heading, data, token, preferredId, ask, t, onPublished }) {
  const [order, setOrder] = useState(null)
  const [isDead, setDead] = useState(false)
  const [done, setDone] = useState(null)
  useEffect(() => {
    if (!token) return
    ask(`/reviews/form?token=${encodeURIComponent(token)}`).then(setOrder, () => setDead(true))
  }, [token])
  const said = useRef(null)
  useEffect(() => {
    if (done) said.current.focus()
  }, [done])

  if (done) {
    return h(
      'div',
      { ref: said, tabIndex: -1, role: 'status', part: 'thanks', style: 'outline:none' },
      h('h2', null, t('thanks')),
      h('p', null, t(done.status)),
      done.isByLink ? null : h('p', null, t('confirm')),
    )
  }
  if (token && !order && !isDead) return heading
  const isByLink = order !== null
  const isOpen = isByLink || data.form.allowWithoutPurchase
  return h(
    'div',
    null,
    heading,
    isDead ? h('p', { role: 'alert' }, t('deadLink')) : null,
    isOpen
      ? h(Fields, {
          form: order?.form ?? data.form,
          order,
          data,
          token: isByLink ? token : undefined,
          preferredId,
          ask,
          t,
          onDone({ status }) {
            setDone({ status, isByLink })
            if (status === 'approved') onPublished()
          },
        })
      : isDead
        ? null
        : h('p', null, t('customersOnly')),
  )
}

function Fields({ form, order, data, token, preferredId, ask, t, onDone }) {
  const products = order?.items ?? []
  const [product, setProduct] = useState(
    products.find((each) => each.productId === preferredId) ?? products[0] ?? { productId: preferredId },
  )
  const [rating, setRating] = useState(0)
  const [pictures, setPictures] = useState([])
  const isUploading = pictures.some(({ url }) => !url)
  const { faults, said, isSending, onSubmit } = useForm({
    t,
    troubleOf: (error) => describeError(error, t),
    wordsOf: ({ name }) => ownErrors[name] && t(ownErrors[name]),
    async send({ elements }) {
      const typed = (name) => elements[name]?.value.trim() || undefined
      const answer = await ask('/reviews', {
        productId: product.productId,
        variantId: product.variantId ?? undefined,
        rating,
        title: typed('title'),
        text: typed('text'),
        name: typed('name'),
        email: typed('email'),
        imageUrls: pictures.length > 0 ? pictures.map(({ url }) => url) : undefined,
        token,
        website: typed('website'),
      })
      onDone(answer)
    },
  })

  const field = (name, props) =>
    h(Field, { name, label: t(name), fault: faults[name], part: 'field', ...props })
  return h(
    'form',
    {
      part: 'form',
      noValidate: true,
      onSubmit: (event) => (isUploading ? event.preventDefault() : onSubmit(event)),
    },
    products.length > 1
      ? h(
          'div',
          { class: 'field' },
          h('label', { for: 'product' }, t('product')),
          h(
            'select',
            { id: 'product', onChange: ({ target }) => setProduct(products[target.selectedIndex]) },
            products.map((each) => h('option', { selected: each === product }, each.name)),
          ),
        )
      : null,
    products.length === 1 && product.productId !== preferredId ? h('p', null, product.name) : null,
    product.isReviewed ? h('p', { class: 'hint' }, t('replaces')) : null,
    h(Rating, { rating, onPick: setRating, fault: faults.rating, color: data.starColor, t }),
    field('title', { maxLength: 150 }),
    field('text', { type: 'textarea', rows: 5, maxLength: 5000, required: form.requireText }),
    field('name', {
      required: true,
      maxLength: 80,
      autocomplete: 'name',
      defaultValue: truncate(order?.name ?? '', 80),
    }),
    token
      ? null
      : [
          field('email', { type: 'email', required: true, maxLength: 254, autocomplete: 'email' }),
          h('p', { class: 'hint' }, t('emailHint')),
        ],
    form.allowImages
      ? h(Pictures, { pictures, setPictures, atMost: form.maxImages, fault: faults.imageUrls, ask, t })
      : null,
    h(Trap),
    h('p', { class: 'fault', role: 'alert' }, said),
    h(
      'button',
      {
        class: 'action',
        part: 'send',
        'aria-disabled': isSending || isUploading ? 'true' : null,
        style: { background: data.buttonColor, color: inkOn(data.buttonColor) },
      },
      t(isSending ? 'sending' : isUploading ? 'uploading' : 'send'),
    ),
  )
}

/** Names of the error texts for fields that other forms do not have. */
const ownErrors = { rating: 'ratingFault', imageUrls: 'picturesFault' }

/** The text for an API error that is not about a field of the form. */
function describeError({ code, message }, t) {
  if (code === 'bad_request' && message.startsWith('token:')) return t('deadLink')
  if (code === 'conflict') return t('already')
  if (code === 'forbidden') return t('customersOnly')
  return t(code === 'rate_limited' ? 'tooMany' : 'sendFault')
}

function Rating({ rating, onPick, fault, color, t }) {
  const described = fault ? { 'aria-describedby': 'field-rating-fault' } : {}
  return h(
    'fieldset',
    { part: 'rating', ...described },
    h('legend', null, `${t('rating')} *`),
    h(
      'div',
      { class: 'picks' },
      [1, 2, 3, 4, 5].map((n) =>
        h(
          'label',
          {
            class: 'pick',
            part: n <= rating ? 'pick picked' : 'pick',
            style: { color: n <= rating ? color : '' },
          },
          h('input', {
            type: 'radio',
            name: 'rating',
            value: n,
            required: true,
            checked: n === rating,
            'aria-label': t('ofStars', { rating: n }),
            ...(fault ? { 'aria-invalid': 'true' } : {}),
            onChange: () => onPick(n),
          }),
          h('span', { 'aria-hidden': 'true' }, n <= rating ? '★' : '☆'),
        ),
      ),
    ),
    fault ? h('p', { class: 'fault', id: 'field-rating-fault' }, fault) : null,
  )
}

/** Uploads pictures as they are chosen; the review then refers to their URLs. */
function Pictures({ pictures, setPictures, atMost, fault, ask, t }) {
  const [own, setOwn] = useState(null)
  const choose = async ({ target }) => {
    const room = atMost - pictures.length
    const files = [...target.files]
    target.value = ''
    const fit = files.filter(
      ({ type, size }) => pictureTypes.includes(type) && size > 0 && size <= bytesAtMost,
    )
    setOwn(
      fit.length < files.length
        ? t('picturesFault')
        : fit.length > room
          ? t('tooManyFault', { count: atMost })
          : null,
    )
    await Promise.all(
      fit.slice(0, room).map(async (file) => {
        const key = `${performance.now()}-${Math.random()}`
        setPictures((all) => [...all, { key, url: null }])
        try {
          const url = await upload(file, key, ask)
          setPictures((all) => all.map((each) => (each.key === key ? { key, url } : each)))
        } catch (error) {
          setPictures((all) => all.filter((each) => each.key !== key))
          setOwn(t(error.code === 'rate_limited' ? 'tooMany' : 'uploadFault'))
        }
      }),
    )
  }
  const shown = own ?? fault
  return h(
    'div',
    { part: 'pictures' },
    h(Field, {
      name: 'imageUrls',
      label: t('pictures', { count: atMost }),
      type: 'file',
      accept: pictureTypes.join(','),
      multiple: true,
      disabled: pictures.length >= atMost,
      fault: shown,
      onChange: choose,
    }),
    pictures.length > 0
      ? h(
          'ul',
          { class: 'taken' },
          pictures.map(({ key, url }, at) =>
            h(
              'li',
              { key },
              url ? h('img', { src: url, alt: '' }) : h('span', { role: 'status' }, t('uploading')),
              url
                ? h(
                    'button',
                    {
                      type: 'button',
                      'aria-label': t('remove', { at: at + 1 }),
                      onClick: () => setPictures((all) => all.filter((each) => each.key !== key)),
                    },
                    '✕',
                  )
                : null,
            ),
          ),
        )
      : null,
  )
}

async function upload(file, key, ask) {
  // File names must be unique, because the API deduplicates identical requests.
  const fileName = `${key}-${file.name}`.slice(-200).replace(/^[\udc00-\udfff]/, '')
  const { stripMetadata } = await import('./strip-metadata.js')
  const picture = await stripMetadata(file)
  const { uploadUrl, method, headers, fileUrl } = await ask('/reviews/upload-url', {
    fileName,
    contentType: file.type,
    size: picture.size,
  })
  const response = await fetch(uploadUrl, { method, headers, body: picture, credentials: 'omit' })
  if (!response.ok) throw new Error(`The upload answered ${response.status}`)
  return fileUrl
}
