/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole session of the contest in C, for small boards: log in, fetch, recognise, post, log out.
 *
 *     cc -O2 -o client client.c -lcurl        (Debian: apt install gcc libcurl4-openssl-dev)
 *     ./client [--ca-file FILE] http://192.168.1.2:8000 TEAM PASSWORD [ANSWERS]
 *
 * An address with https:// needs the organiser's CA as --ca-file FILE, unless this system knows it.
 * Put your detector into detect(), and set DETECTS to 1. Or replay stored answers: ANSWERS is a file
 * of lines image, class, confidence, xmin, ymin, xmax, ymax, separated by blanks or commas. Stored
 * answers belong to image numbers. In an event each session has its images in another order, so
 * stored answers score about 0 there.
 * The exit code is 0 when all is done or the time ran out, 1 after an error, 2 after wrong use.
 */
#include <curl/curl.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMEOUT_S 30L
#define PROGRESS_S 2
#ifndef DETECTS
#define DETECTS 0 /* 1 when detect() is your own detector */
#endif

/* One object; the corners are inclusive pixels of the image as it was sent. */
struct box {
    long image, class_id;
    double confidence, xmin, ymin, xmax, ymax;
    long line; /* of ANSWERS */
};

struct bytes {
    char *data;
    size_t size, room;
};

static struct box *replayed; /* of ANSWERS, by image */
static size_t replayed_count;

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("client: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* Return the boxes of an image: put your own detector here. The result points to *count boxes,
 * which must stay valid until the next call. */
static const struct box *detect(long image, const void *jpeg, size_t size, size_t *count)
{
    static size_t next; /* images are asked for in ascending order */
    size_t first;
    (void)jpeg;
    (void)size;
    while (next < replayed_count && replayed[next].image < image)
        next++;
    first = next;
    while (next < replayed_count && replayed[next].image == image)
        next++;
    *count = next - first;
    return *count ? replayed + first : NULL;
}

static void *grow(void *data, size_t size)
{
    void *larger = realloc(data, size);
    if (!larger)
        die("out of memory");
    return larger;
}

/* Append to a buffer and keep a zero byte behind its end. */
static void append(struct bytes *buffer, const void *data, size_t size)
{
    if (buffer->size + size + 1 > buffer->room) {
        buffer->room = 2 * (buffer->size + size + 1);
        buffer->data = grow(buffer->data, buffer->room);
    }
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

static void append_text(struct bytes *buffer, const char *text)
{
    append(buffer, text, strlen(text));
}

/* Append &name=number. With 17 digits the referee reads back exactly the same double. */
static void append_number(struct bytes *form, const char *name, double number)
{
    char text[40], *plus;
    snprintf(text, sizeof text, "%.17g", number);
    append_text(form, "&");
    append_text(form, name);
    append_text(form, "=");
    plus = strchr(text, '+'); /* 1e+20 becomes 1e20, because in a form a + means a blank */
    if (plus)
        memmove(plus, plus + 1, strlen(plus));
    append_text(form, text);
}

static size_t receive(char *data, size_t one, size_t size, void *buffer)
{
    append(buffer, data, one * size);
    return one * size;
}

/* Tell whether plain HTTP is spoken at an https:// address. What libcurl says of a failed handshake
 * differs from one TLS library to the next, so ask. A port for TLS answers plain HTTP with 400. */
static int speaks_plainly(const char *base)
{
    char url[1024];
    long status = 0;
    CURLcode code = CURLE_FAILED_INIT;
    CURL *curl = curl_easy_init();
    if (curl && (size_t)snprintf(url, sizeof url, "http://%s/help", base + 8) < sizeof url) {
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
        code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(curl);
    return code == CURLE_OK && status != 400;
}

/* POST a form and return the status; the answer's bytes replace those of *answer. */
static long ask(CURL *curl, const char *base, const char *path, const struct bytes *form,
                struct bytes *answer)
{
    char url[1024], reason[CURL_ERROR_SIZE] = "";
    long status = 0;
    CURLcode code;
    if ((size_t)snprintf(url, sizeof url, "%s%s", base, path) >= sizeof url)
        die("the address is too long");
    answer->size = 0;
    append(answer, "", 0);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, form->data);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)form->size);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    code = curl_easy_perform(curl); /* libcurl keeps one connection open */
    if (code == CURLE_SEND_ERROR) {
        /* The referee had closed the connection. libcurl opens a new one by itself, but only five
         * times in a whole session. A new call starts that count again. */
        curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
        answer->size = 0;
        append(answer, "", 0);
        code = curl_easy_perform(curl);
        curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 0L);
    }
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        die("the certificate of %s is not trusted: %s. Give the organiser's CA file with --ca-file, "
            "use the address that the organiser told you, and look at this machine's date",
            base, *reason ? reason : curl_easy_strerror(code));
    if (code == CURLE_SSL_CONNECT_ERROR && !strncmp(base, "https://", 8) && speaks_plainly(base))
        die("%s does not speak TLS. Use http:// in place of https://", base + 8);
    if (code)
        die("no answer from %s: %s", base, *reason ? reason : curl_easy_strerror(code));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Make a request with a token, as ask() does. Return 1 for success, 0 if the session is over. */
static int ask_in_session(CURL *curl, const char *base, const char *path,
                          const struct bytes *form, struct bytes *answer)
{
    long status = ask(curl, base, path, form, answer);
    if (status != 200 && status != 401)
        die("the referee refused %s with status %ld: %.200s", path, status, answer->data);
    return status == 200;
}

static int by_image(const void *one, const void *other)
{
    const struct box *a = one, *b = other;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return a->line < b->line ? -1 : 1; /* the file's order counts where confidences are equal */
}

static void read_answers(const char *path)
{
    char line[1024], rest;
    long number = 0;
    size_t room = 0, at;
    FILE *file = fopen(path, "r");
    if (!file)
        die("cannot read %s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file)) {
        struct box box;
        number++;
        for (at = 0; line[at]; at++)
            if (line[at] == ',')
                line[at] = ' ';
        if (line[strspn(line, " \t\r\n")] == 0)
            continue;
        if (sscanf(line, "%ld %ld %lf %lf %lf %lf %lf %c", &box.image, &box.class_id,
                   &box.confidence, &box.xmin, &box.ymin, &box.xmax, &box.ymax, &rest) != 7)
            die("%s, line %ld: expected seven numbers", path, number);
        box.line = number;
        if (replayed_count == room) {
            room = 2 * room + 1024;
            replayed = grow(replayed, room * sizeof *replayed);
        }
        replayed[replayed_count++] = box;
    }
    fclose(file);
    if (replayed_count)
        qsort(replayed, replayed_count, sizeof *replayed, by_image);
}

/* Make a new form that holds a name and an escaped value. */
static void begin_form(CURL *curl, struct bytes *form, const char *name, const char *value)
{
    char *escaped = curl_easy_escape(curl, value, 0);
    form->size = 0;
    append_text(form, name);
    append_text(form, "=");
    append_text(form, escaped ? escaped : "");
    curl_free(escaped);
}

static int post(CURL *curl, const char *base, const char *token, const struct box *box,
                size_t count, struct bytes *answer)
{
    static struct bytes form;
    begin_form(curl, &form, "token", token);
    for (; count; count--, box++) {
        append_number(&form, "image_name", (double)box->image);
        append_number(&form, "CLASS_ID", (double)box->class_id);
        append_number(&form, "confidence", box->confidence);
        append_number(&form, "xmin", box->xmin);
        append_number(&form, "ymin", box->ymin);
        append_number(&form, "xmax", box->xmax);
        append_number(&form, "ymax", box->ymax);
    }
    return ask_in_session(curl, base, "/result", &form, answer);
}

static void take_part(CURL *curl, const char *base, const char *token, long images)
{
    struct bytes form = {0}, answer = {0};
    const time_t started = time(NULL);
    time_t told = started;
    size_t boxes = 0;
    long image;
    int running = 1;
    for (image = 1; image <= images; image++) {
        const struct box *found;
        size_t count = 0;
        begin_form(curl, &form, "token", token);
        append_number(&form, "image_name", (double)image);
        running = ask_in_session(curl, base, "/image", &form, &answer);
        if (!running)
            break;
        found = detect(image, answer.data, answer.size, &count);
        if (count && !(running = post(curl, base, token, found, count, &answer)))
            break;
        boxes += count;
        if (time(NULL) - told >= PROGRESS_S) {
            told = time(NULL);
            fprintf(stderr, "client: %ld of %ld images\n", image, images);
        }
    }
    begin_form(curl, &form, "token", token);
    if (!running || !ask_in_session(curl, base, "/logout", &form, &answer))
        fprintf(stderr, "client: the session's time has run out\n");
    fprintf(stderr, "client: %ld of %ld images, %lu boxes, %ld s\n", image - 1, images,
            (unsigned long)boxes, (long)(time(NULL) - started));
    free(form.data);
    free(answer.data);
}

int main(int count, char **arguments)
{
    struct bytes form = {0}, answer = {0};
    const char *base, *ca_file = NULL;
    char *token, *end, *password;
    long images, status;
    CURL *curl;
    struct curl_slist *headers;
    if (count > 2 && !strcmp(arguments[1], "--ca-file")) {
        ca_file = arguments[2];
        arguments += 2;
        count -= 2;
    }
    if (count != 4 && count != 5) {
        fprintf(stderr,
                "usage: client [--ca-file FILE] http://HOST:PORT TEAM PASSWORD [ANSWERS]\n");
        return 2;
    }
    base = arguments[1];
    if (ca_file && strncmp(base, "https://", 8)) {
        fprintf(stderr, "client: --ca-file goes with an address that begins with https://\n");
        return 2;
    }
    if (count == 5) {
        read_answers(arguments[4]);
        fprintf(stderr, "client: the stored answers go by the images' numbers; in an event, where "
                        "each session has another order, they score about 0\n");
    } else if (!DETECTS) {
        fprintf(stderr, "client: there is nothing to post: give a file of ANSWERS, or write a "
                        "detector into detect() and set DETECTS to 1\n");
        return 2;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(curl = curl_easy_init()))
        die("libcurl does not start");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    /* Without this libcurl asks for leave to send a large body and may wait a second for it. */
    headers = curl_slist_append(NULL, "Expect:");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    begin_form(curl, &form, "username", arguments[2]);
    password = curl_easy_escape(curl, arguments[3], 0);
    append_text(&form, "&password=");
    append_text(&form, password ? password : "");
    curl_free(password);
    status = ask(curl, base, "/login", &form, &answer);
    if (answer.data[0] == '<')
        die("%s sent a web page: this is not the contestants' port; ask the operator", base);
    if (status != 200)
        die("the referee refused the login with status %ld: %.200s", status, answer.data);
    token = answer.data;
    answer = (struct bytes){0};
    begin_form(curl, &form, "token", token);
    if (!ask_in_session(curl, base, "/no_of_images", &form, &answer))
        die("the referee does not take the token that it gave");
    images = strtol(answer.data, &end, 10);
    if (!isdigit((unsigned char)answer.data[0]) || *end)
        die("the referee sent no number of images but: %.60s", answer.data);
    take_part(curl, base, token, images);
    free(form.data);
    free(answer.data);
    free(token);
    free(replayed);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    curl_global_cleanup();
    return 0;
}
