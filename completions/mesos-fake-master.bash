# bash completion for mesos-fake-master; made from its commands by python -m mesosctl.cli.reference

_mesos_fake_master_takes_value() {
    case "$1" in
        --agent|--cluster|--mesos-version|--ip|--port|--registry|--work-dir|--roles|--weights|--credentials|--acls|--rate-limits|--max-operator-event-stream-subscribers|--allocation-interval|--offer-timeout|--allocator-agent-recovery-factor|--allocator-recovery-timeout|--agent-reregister-timeout|--recovery-agent-removal-limit|--ssl-cert-file|--ssl-key-file|--ssl-ca-file|--allocator|--priorities|--revocation-grace-period|--lendable-names|--cluster-name) return 0 ;;
        *) return 1 ;;
    esac
}

_mesos_fake_master_goes_along() {
    case "$1" in
        *) return 1 ;;
    esac
}

_mesos_fake_master_is_command() {
    case "$1" in
        *) return 1 ;;
    esac
}

_mesos_fake_master_after_option() {
    case "$1" in
        --agent) kinds= ;;
        --cluster) kinds=file ;;
        --mesos-version) choices=(1.4 1.11) ;;
        --ip) kinds= ;;
        --port) kinds= ;;
        --registry) choices=(in_memory sqlite) ;;
        --work-dir) kinds=file ;;
        --roles) kinds= ;;
        --weights) kinds= ;;
        --credentials) kinds=file ;;
        --acls) kinds=file ;;
        --rate-limits) kinds=file ;;
        --max-operator-event-stream-subscribers) kinds= ;;
        --allocation-interval) kinds= ;;
        --offer-timeout) kinds= ;;
        --allocator-agent-recovery-factor) kinds= ;;
        --allocator-recovery-timeout) kinds= ;;
        --agent-reregister-timeout) kinds= ;;
        --recovery-agent-removal-limit) kinds= ;;
        --ssl-cert-file) kinds=file ;;
        --ssl-key-file) kinds=file ;;
        --ssl-ca-file) kinds=file ;;
        --allocator) kinds= ;;
        --priorities) kinds= ;;
        --revocation-grace-period) kinds= ;;
        --lendable-names) kinds= ;;
        --cluster-name) kinds= ;;
    esac
}

_mesos_fake_master_at() {
    case "$1" in
        'mesos-fake-master')
            commands=()
            options=(--agent --cluster --mesos-version --ip --port --registry --work-dir --roles --weights --credentials --acls --rate-limits --rate-limit-http --no-rate-limit-http --authenticate-http-readonly --authenticate-http-readwrite --authenticate-http-frameworks --max-operator-event-stream-subscribers --allocation-interval --offer-timeout --allocator-agent-recovery-factor --allocator-recovery-timeout --agent-reregister-timeout --recovery-agent-removal-limit --ssl-cert-file --ssl-key-file --ssl-ca-file --ssl-require-client-cert --allocator --priorities --preemption --revocation-grace-period --oversubscribe-reservations --lendable-names --cluster-name --version -h --help)
            places=() ;;
    esac
}

# Names of a kind that mesosctl keeps, added to candidates; it is asked only where they are too old.
_mesos_fake_master_names() {
    local kind=$1 folder=${XDG_CACHE_HOME:-} where=default from=$master name until=0 now
    local -a found=()
    if [[ $folder != /* ]]; then folder=$HOME/.cache; fi
    if [[ -n $from ]]; then
        if [[ $from == *//*@* ]]; then from=${from%%//*}//${from##*@}; fi
        where=master-${from//[^A-Za-z0-9._-]/_}
    elif [[ -n $context ]]; then
        where=context-$context
    fi
    folder=$folder/mesosctl/names/$where/$kind
    if [[ $kind == context ]]; then folder=${folder%/*/*}/context; fi
    if [[ -r $folder ]]; then
        { IFS= read -r until; while IFS= read -r name; do found+=("$name"); done; } <"$folder"
    fi
    now=${EPOCHSECONDS:-$(date +%s)}
    if ! [[ $until =~ ^[0-9]{1,12}$ ]] || ((until < now)); then
        found=()
        while IFS= read -r name; do found+=("$name"); done \
            < <(command mesos-fake-master complete "$kind" ${along[@]+"${along[@]}"} </dev/null 2>/dev/null)
    fi
    candidates+=(${found[@]+"${found[@]}"})
}

_mesos_fake_master() {
    local -a words=() commands=() options=() places=() choices=() candidates=() along=()
    local path=mesos-fake-master word glued= skip= current raw prefix= value option= kinds= kind quoted cut
    local master=${MESOSCTL_MASTER:-} context=${MESOSCTL_CONTEXT:-}
    local -i i count=0 last
    COMPREPLY=()
    # bash makes several words of --output=json and of http://host:5050
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -gt 1 && ( -n $glued || $word =~ ^[:=]+$ ) ]]; then
            words[${#words[@]}-1]+=$word
            if [[ $word =~ ^[:=]+$ ]]; then glued=1; else glued=; fi
        else
            words+=("$word")
            glued=
        fi
    done
    last=${#words[@]}-1
    current=${words[last]}
    raw=${COMP_WORDS[COMP_CWORD]}
    if [[ $raw =~ ^[:=]+$ ]]; then raw=; fi
    cut=${current%"$raw"}
    for ((i = 1; i < last; i++)); do
        word=${words[i]//[\'\"]/}
        word=${word/#\~\//$HOME/}
        if [[ $word == --*=* ]] && _mesos_fake_master_takes_value "${word%%=*}"; then
            skip=${word%%=*}
            word=${word#*=}
        elif [[ -z $skip ]]; then
            if _mesos_fake_master_takes_value "$word"; then
                skip=$word
            elif [[ $word == -* ]]; then
                :
            elif ((count == 0)) && _mesos_fake_master_is_command "$path $word"; then
                path="$path $word"
            else
                count+=1
            fi
            continue
        fi
        if _mesos_fake_master_goes_along "$skip"; then along+=("$skip" "$word"); fi
        case "$skip" in
            --master) master=$word ;;
            --context) context=$word ;;
        esac
        skip=
    done
    option=$skip
    value=$current
    if [[ $current == --*=* ]]; then
        option=${current%%=*}
        prefix=$option=
        value=${current#*=}
    fi
    if [[ -n $option ]]; then
        _mesos_fake_master_after_option "$option"
        candidates=(${choices[@]+"${choices[@]}"})
    else
        _mesos_fake_master_at "$path"
        candidates=(${commands[@]+"${commands[@]}"})
        for ((i = 0; i < ${#places[@]}; i++)); do
            if ((i == count)) || [[ $i -lt $count && ${places[i]} == *'*' ]]; then kinds=${places[i]%\*}; fi
        done
        if [[ $value == -* || ( ${#candidates[@]} -eq 0 && ( -z $kinds || $kinds == - ) ) ]]; then
            candidates=("${options[@]}")
            kinds=
        fi
    fi
    for kind in ${kinds//,/ }; do
        case "$kind" in
            file)
                compopt -o filenames 2>/dev/null || :
                while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$value")
                ;;
            -) ;;
            =*) candidates+=("${kind#=}") ;;
            *) _mesos_fake_master_names "$kind" ;;
        esac
    done
    for word in ${candidates[@]+"${candidates[@]}"}; do
        if [[ $word == "$value"* ]]; then
            printf -v quoted %q "$word"
            word=$prefix$quoted
            COMPREPLY+=("${word#"$cut"}")
            if [[ $word == *[:=/] ]]; then compopt -o nospace 2>/dev/null || :; fi
        fi
    done
}

complete -F _mesos_fake_master mesos-fake-master
